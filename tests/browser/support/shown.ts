import type { WatchedPage } from './watched-page.ts';

export const stateOf = ({ page }: WatchedPage) => page.locator('main').getAttribute('data-state');
/** The seconds that the countdown shows. */
export const countdownOf = async ({ page }: WatchedPage) => {
  const [minutes, seconds] = ((await page.locator('.countdown').textContent()) ?? '').split(':').map(Number);
  return minutes! * 60 + seconds!;
};
export const noteOf = ({ page }: WatchedPage) => page.locator('.note').innerText();

/** The gaps between `polls` polls, on the page's clock. */
export async function gaps(shown: WatchedPage, polls: number): Promise<number[]> {
  const first = (await shown.asked()).length;
  for (let poll = 0, last = await shown.now(); poll < polls; poll += 1) {
    await shown.passUntil(last + 4_000);
    last = (await shown.asked()).at(-1)?.at ?? last;
  }
  const asked = (await shown.asked()).slice(first).map(({ at }) => at);
  return asked.slice(1).map((at, position) => at - asked[position]!);
}

/** Evaluated in the page: records every text of its live region. A page load removes it. */
export const writeDownAnnouncements = `
  window.announced = [];
  new MutationObserver(() => {
    const { textContent } = document.querySelector('.announcement');
    if (textContent !== '') window.announced.push(textContent);
  }).observe(document.querySelector('.announcement'), { childList: true, characterData: true, subtree: true });
`;
