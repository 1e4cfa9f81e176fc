import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { openBrowser, type TestBrowser } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

/**
 * A stage and a browser for the tests of one file. After each test, payments answers normally again, every visit is closed, and the test
 * fails if a page complained.
 * @param options.forReading with fonts for every language.
 * @returns both; set before the first test.
 */
export function useStage(options: { forReading?: boolean } = {}): {
  readonly stage: Stage;
  readonly browser: TestBrowser;
} {
  const opened = {} as { stage: Stage; browser: TestBrowser };
  beforeAll(async () => {
    [opened.stage, opened.browser] = await Promise.all([openStage(), openBrowser(options)]);
    // Chromium is downloaded when it is used for the first time.
  }, 300_000);
  afterEach(async () => {
    opened.stage.payments.fail(false);
    await opened.browser.leaveAll();
  });
  afterAll(async () => {
    await opened.browser.close();
    await opened.stage.close();
  });
  return opened;
}
