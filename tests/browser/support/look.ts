import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import jsQr from 'jsqr';
import { PNG } from 'pngjs';
import type { Locator, Page } from 'playwright-core';

/** What is run in a page is no TypeScript: the types of this repository know no browser. */
const inPage = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const layout = inPage('in-page/layout.js');
const geometry = inPage('in-page/geometry.js');

/** WCAG 2.2 AA as far as a program can tell, and what is beyond it good practice. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** @returns what overflows, scrolls sideways or is too small to hit; empty when all is well. */
export const layoutProblems = (page: Page): Promise<string[]> => page.evaluate<string[]>(layout);

export type Place = { text: string; left: number; right: number };

/** Where the words of the page are from side to side; those of the description are left out, and those that time changes. */
export const placesOfWords = (page: Page): Promise<Place[]> => page.evaluate<Place[]>(geometry);

/** @returns what bars somebody from using the page, with the elements concerned; empty when all is well. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const run = `axe.run(document, { runOnly: { type: 'tag', values: ${JSON.stringify(tags)} }, resultTypes: ['violations'] })`;
  const { violations } = await page.evaluate<axe.AxeResults>(run);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary ?? ''}`),
  );
}

/** What a scanner reads off the screen, dark on light as most of them want it; null when it reads nothing. */
export async function scan(code: Locator): Promise<string | null> {
  const { data, width, height } = PNG.sync.read(await code.screenshot());
  return jsQr.default(new Uint8ClampedArray(data), width, height, { inversionAttempts: 'dontInvert' })?.data ?? null;
}
