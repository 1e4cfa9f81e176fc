import { expect, test } from '@jest/globals';
import { checkout, EVM_WALLET } from './support/checkouts.ts';
import { scan } from './support/look.ts';
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

test('asks for the rest as soon as it shows that a part has arrived at its own address', async () => {
  const evm = { network: 'ethereum', merchant_wallet: EVM_WALLET, amount: '50.00' } as const;
  const url = opened.stage.show(checkout('waiting', { ...evm, received: { amount: '0', missing: '50' } }));
  const shown = await watchPage(opened.browser, `${url}?qr=link`);
  await shown.page.evaluate(writeDownAnnouncements);
  for (const [amount, missing, units] of [
    ['37.66', '12.34', '12340000'],
    ['49', '1', '1000000'],
  ] as const) {
    opened.stage.change(url, checkout('waiting', { ...evm, received: { amount, missing } }));
    await shown.live(26);
    expect(await shown.page.title()).toBe(`Received ${amount} of 50.00 USDT`);
    const link = await shown.page.locator('a.wallet-link').getAttribute('href');
    expect(link).toMatch(new RegExp(`&uint256=${units}$`));
    expect(await scan(shown.page.locator('svg.qr'))).toBe(link);
    expect(await shown.page.locator('[data-copy]').first().getAttribute('data-copy')).toBe(missing);
  }
  expect(await shown.page.evaluate('window.announced')).toEqual([
    expect.stringMatching(/^Received 37.66 of 50.00 USDT. Send the rest, 12.34 USDT, to the same address. /),
    expect.stringMatching(/^Received 49 of 50.00 USDT. Send the rest, 1 USDT, to the same address. /),
  ]);
  opened.stage.change(url, checkout('seen', { ...evm, received: { amount: '50', missing: '0' } }));
  await shown.live(5);
  expect(await stateOf(shown)).toBe('seen');
  const { arrived: _notAsked, ...more } = checkout('seen', { ...evm, received: { amount: '52', missing: '0' } });
  opened.stage.change(url, more);
  await shown.live(5);
  expect(await shown.page.locator('.amount').first().innerText()).toBe('52 USDT');
});

test('never starts for a payment that has ended and for which money has arrived', async () => {
  const shown = await watchPage(opened.browser, opened.stage.show(checkout('arrived', { status: 'EXPIRED' })));
  await shown.pass(HOUR_MS);
  expect(await shown.page.evaluate('recorder.asked')).toEqual([]);
});
