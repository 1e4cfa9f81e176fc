import { describe, expect, test } from '@jest/globals';
import { accessibilityProblems, layoutProblems } from './support/look.ts';
import type { useStage } from './support/use-stage.ts';

/** Code and tables may be wider than the page: they scroll separately, also with the keyboard. */
const isOwnScrolling = (problem: string): boolean => /^(?:pre|div\.table)\b.* scrolls sideways$/s.test(problem);

/** The guide at /docs, on the stage of the test file. */
export const guide = (opened: ReturnType<typeof useStage>): void =>
  describe('the guide', () => {
    test.each([
      ['smallPhone', 'dark'],
      ['desktop', 'light'],
    ] as const)(
      'is readable and accessible: %s, %s',
      async (device, colorScheme) => {
        const page = await opened.browser.look({ device, colorScheme });
        for (const path of [
          '/docs',
          '/docs/quick-start',
          '/docs/errors',
          '/docs/receiving-webhooks',
          '/docs/search?q=key',
        ]) {
          await page.goto(opened.stage.origin + path);
          expect([path, (await layoutProblems(page)).filter((problem) => !isOwnScrolling(problem))]).toEqual([
            path,
            [],
          ]);
          expect([path, await accessibilityProblems(page)]).toEqual([path, []]);
        }
      },
      180_000,
    );

    test('leads without a script from the search to the result, and from there to the next page', async () => {
      const { page } = await opened.browser.visit({ javaScriptEnabled: false });
      await page.goto(`${opened.stage.origin}/docs`);
      await page.getByRole('searchbox').fill('signing key');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Rotating keys: The signing key' }).click();
      expect(new URL(page.url())).toMatchObject({ pathname: '/docs/key-rotation', hash: '#the-signing-key' });
      await page.getByRole('link', { name: 'All pages' }).click();
      await page.getByRole('navigation', { name: 'All pages' }).getByRole('link', { name: 'Errors' }).click();
      await page.getByText('Next:').getByRole('link').click();
      expect(new URL(page.url()).pathname).toBe('/docs/key-rotation');
    });

    test('has a reference that its script fills', async () => {
      const { page } = await opened.browser.visit({ device: 'desktop' });
      await page.goto(`${opened.stage.origin}/docs/api`);
      await page.getByText('Create a payment').first().waitFor();
      await page.locator('.swagger-ui').first().waitFor();
    });
  });
