import { expect, test } from '@jest/globals';
import { checkout } from './support/checkouts.ts';
import { countdownOf, stateOf, writeDownAnnouncements } from './support/shown.ts';
import { useStage } from './support/use-stage.ts';
import { watchPage } from './support/watched-page.ts';

/** The parts of the page that change independently of the status. */

const opened = useStage();

const HOUR_MS = 3_600_000;

test('shows within half a minute that money has arrived, and that a payment is paid later', async () => {
  const url = opened.stage.show(checkout('waiting'));
  const shown = await watchPage(opened.browser, url);
  await shown.page.evaluate(writeDownAnnouncements);
  await shown.live(30);
  opened.stage.change(url, checkout('arrived'));
  await shown.live(26);
  expect(await stateOf(shown)).toBe('arrived');
  expect(await shown.page.evaluate('window.announced')).toEqual([
    expect.stringMatching(/1248.50 USDT has arrived at this address. If it was you, do not pay again. .*K7QMX2RD/),
  ]);
  const before = await countdownOf(shown);
  await shown.live(3);
  expect(before - (await countdownOf(shown))).toBe(3);
  opened.stage.change(url, checkout('paid'));
  await shown.live(5);
  expect(await stateOf(shown)).toBe('paid');
});

test('shows warnings and removes them, and keeps them while payments does not answer', async () => {
  const url = opened.stage.show(checkout('waiting'));
  const shown = await watchPage(opened.browser, url);
  const warnings = ['network_unreadable'] as const;
  opened.stage.change(url, checkout('arrived', { warnings: [...warnings] }));
  await shown.live(26);
  expect(await shown.page.locator('.notice').innerText()).toContain('We cannot read Tron right now');
  const { arrived: _unknown, ...unanswered } = checkout('waiting');
  opened.stage.change(url, unanswered);
  await shown.live(26);
  expect(await stateOf(shown)).toBe('arrived');
  opened.stage.change(url, checkout('waiting'));
  await shown.live(26);
  expect(await stateOf(shown)).toBe('waiting');
  opened.stage.change(url, checkout('frozen'));
  await shown.live(26);
  expect(await stateOf(shown)).toBe('frozen');
  expect(await shown.page.locator('svg.qr').count()).toBe(0);
});

test('never starts for a payment that has ended and for which money has arrived', async () => {
  const shown = await watchPage(opened.browser, opened.stage.show(checkout('arrived', { status: 'EXPIRED' })));
  await shown.pass(HOUR_MS);
  expect(await shown.page.evaluate('recorder.asked')).toEqual([]);
});
