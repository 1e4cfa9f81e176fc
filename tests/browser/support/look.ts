import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import jsQr from 'jsqr';
import { PNG } from 'pngjs';
import type { Locator, Page } from 'playwright-core';

/** Code that runs in a page is not TypeScript, because this repository has no types of the browser. */
const inPage = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const layout = inPage('in-page/layout.js');
const texts = inPage('in-page/texts.js');
const geometry = inPage('in-page/geometry.js');

/** WCAG 2.2 AA as far as a program can check it, and further good practice. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** @returns elements that overflow, scroll sideways or are too small to tap; empty if there are none. */
export const layoutProblems = (page: Page): Promise<string[]> => page.evaluate<string[]>(layout);

/** @returns texts that cover each other or a control, are cut off, or have broken words; empty if there are none. */
export const textProblems = (page: Page): Promise<string[]> => page.evaluate<string[]>(texts);

/** Opens everything in the main part that a reader can open. */
export const openAll = (page: Page): Promise<void> =>
  page.evaluate(`document.querySelectorAll('main details').forEach((details) => (details.open = true))`);

export type Place = { text: string; left: number; right: number };

/** The horizontal positions of the page's texts, without the description and texts that change with time. */
export const placesOfWords = (page: Page): Promise<Place[]> => page.evaluate<Place[]>(geometry);

/** @returns accessibility violations with the elements concerned; empty if there are none. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const run = `axe.run(document, { runOnly: { type: 'tag', values: ${JSON.stringify(tags)} }, resultTypes: ['violations'] })`;
  const { violations } = await page.evaluate<axe.AxeResults>(run);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary ?? ''}`),
  );
}

/** What a scanner reads from the screen, dark on light as most scanners need it; null when it reads nothing. */
export async function scan(code: Locator): Promise<string | null> {
  const { data, width, height } = PNG.sync.read(await code.screenshot());
  return jsQr.default(new Uint8ClampedArray(data), width, height, { inversionAttempts: 'dontInvert' })?.data ?? null;
}
