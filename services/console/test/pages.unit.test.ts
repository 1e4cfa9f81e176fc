import { expect, test } from '@jest/globals';
import type { DescribedEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { paymentStatuses } from '@quittance/contracts/api/payment.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { candidatesOf, howManyText, reasonMeanings, reasonsView } from '@quittance/operator/transfers.ts';
import { amount, words } from '@quittance/operator/view.ts';
import { badgeOf, cell } from '../src/cell.ts';
import { explorerOf } from '../src/explorer.ts';
import type { AnyViewer } from '../src/frame.ts';
import { errorWords, eventMoments, warningsPart } from '../src/story.ts';
import { transfersOnChain } from '../src/transfers.ts';
import { render } from '../src/view.ts';

const viewer: AnyViewer = {
  name: 'olga',
  role: 'viewer',
  formToken: '',
  path: '/',
  explorer: () => null,
  passkeys: null,
  accountRole: 'viewer',
};
const shown = (candidates: string[], elsewhere = false): string => {
  const shownCell = cell(candidatesOf({ candidates, candidates_elsewhere: elsewhere }), viewer);
  return String(shownCell?.html ?? null).replaceAll(/\s+/g, ' ');
};

const [a, b] = ['a', 'b'].map((letter) => `pay_${letter.repeat(32)}`) as [string, string];
const linked = (id: string) => `<span class="id" data-copy="${id}" ><a href="/payments/${id}">${id}</a></span>`;

test('a payment is named alone only when it is the only one that a transfer may be for', () => {
  expect(shown([])).toBe('null');
  expect(shown([a])).toBe(linked(a));
  expect(shown([], true)).toBe('May be for a payment of another merchant');
  expect(shown([a], true)).toBe(`May be for ${linked(a)}, also for a payment of another merchant`);
  const both = [a, b].map((id) => `href="/payments/${id}"`).join('.*');
  expect(shown([a, b])).toMatch(new RegExp(`^May be for 2 payments <ul .*${both}.*</ul>$`));
  expect(shown([a, b], true)).toContain('May be for 2 payments, also for a payment of another merchant <ul');
});

test('a transfer that may be for several payments says so, and whether it has the amount of all', () => {
  const asked = (...amounts: string[]) => amounts.map((amount) => ({ amount }));
  expect(howManyText('5.5', asked('5.50', '5.5'))).toBe('2 payments had this amount');
  expect(howManyText('500', asked('500.00', '500'))).toBe('2 payments had this amount');
  expect(howManyText('500', asked('5', '500', '500'))).toBe('This transfer may be for 3 payments');
});

test('an id is cut in a table and whole in a list of facts, and always copied whole', () => {
  const wallet = `0x${'ab'.repeat(20)}`;
  const shownAs = (text: string, room: 'full' | 'short') =>
    /data-copy="([^"]*)".*?>([^<>]+)</s.exec(cell(text, viewer, room)?.html ?? '')?.slice(1);
  expect([shownAs(a, 'short'), shownAs(a, 'full')]).toEqual([
    [a, 'pay_…aaaaaaaa'],
    [a, a],
  ]);
  expect(shownAs('c'.repeat(64), 'short')).toEqual(['c'.repeat(64), 'cccccccc…cccccc']);
  expect(shownAs(wallet, 'short')).toEqual([wallet, '0xababab…ababab']);
  expect(cell('order 7', viewer, 'short')?.html).toBe('order 7');
});

test.each([`whsec_${'b_-'.repeat(14)}b`, `whsec_${'b+/'.repeat(14)}b=`])('the signing key %s can be copied', (key) => {
  expect(cell(key, viewer)?.html).toContain(`data-copy="${key}"`);
});

test('an amount has its digits in groups and at least two behind the point', () => {
  const shownAs = (digits: string) => cell(amount(digits), viewer)?.html.replaceAll(/<[^>]*>/g, '');
  expect(['1', '1234.5', '999999.123456', '12345678'].map(shownAs)).toEqual([
    ...['1.00 USDT', '1,234.50 USDT', '999,999.123456 USDT', '12,345,678.00 USDT'],
  ]);
});

test('what is on a chain links to the explorer of its network, where the networks file names one', () => {
  const network = { id: 'tron', explorer_transaction_url: 'https://scan.example/tx/{transaction_id}' };
  const addresses = { explorer_address_url: 'https://scan.example/a/{address}' };
  const wallet = `0x${'ab'.repeat(20)}`;
  const explorer = explorerOf([
    { ...network, ...addresses },
    { ...network, id: 'ethereum' },
  ] as Network[]);
  expect([explorer('tron', 'ab'.repeat(32)), explorer('tron', wallet)]).toEqual([
    `https://scan.example/tx/${'ab'.repeat(32)}`,
    `https://scan.example/a/${wallet}`,
  ]);
  expect([explorer('ethereum', wallet), explorer('polygon', 'ab'.repeat(32))]).toEqual([null, null]);
  const shownCell = cell({ hash: wallet, network: 'tron' }, { ...viewer, explorer }, 'short');
  expect(shownCell?.html).toContain(`href="https://scan.example/a/${wallet}"`);
});

test('every state of a payment and of a transfer has a colour', () => {
  for (const word of [...paymentStatuses, ...Object.keys(reasonMeanings)])
    expect([word, badgeOf(words(word)).html.replace(/.*class="badge ?([a-z]*)".*/s, '$1')]).toEqual([
      ...[word, expect.stringMatching(/^(good|open|warn|bad|over)$/)],
    ]);
});

test('only the reasons that a list has are explained, each once', () => {
  expect(reasonsView([])).toEqual([]);
  const part = render(reasonsView([{ reason: 'late' }, { reason: 'paid_another' }, { reason: 'late' }]), viewer);
  expect(part.html.match(/<dt>[^<]*/g)).toEqual(['<dt>Late', '<dt>Paid another']);
});

test('a frozen wallet and a network that cannot be read are said, and nothing without them', () => {
  expect(warningsPart([])).toEqual([]);
  const texts = warningsPart(['wallet_blacklisted', 'network_unreadable']).map(({ html: text }) => text);
  expect(texts).toEqual([
    expect.stringContaining('issuer has frozen this wallet'),
    expect.stringContaining('cannot be read'),
  ]);
});

test('an event that was withdrawn is not said to have failed', () => {
  const event = { event_id: 'evt_1', event_type: 'payment.expired', status: 'failed', error_category: 'superseded' };
  const at = { created_at: '2026-01-31T12:00:00.000Z' };
  const [moment] = eventMoments({ event: { ...event, ...at }, attempts: [] } as unknown as DescribedEvent);
  expect(moment?.detail).toBe('evt_1, withdrawn: the payment was PAID first');
  expect([errorWords('http_5xx'), errorWords(null)]).toEqual(['http 5xx', null]);
});

test('what only the chain has of a transaction can be chosen from', () => {
  const mined = {
    ...{ outcome: 'mined' as const, network: 'tron', block_number: 7, block_timestamp: '2026-01-31T12:00:00.000Z' },
    ...{ is_scanned: true, is_final: true, other_recipients: [] },
    transfers: [{ transaction_event_index: 3, from: 'TA', to: 'TB', amount_units: '9500000', decimals: 6 }],
  };
  expect(transfersOnChain('ab', mined)).toMatchObject([
    { network: 'tron', transaction_event_index: 3, merchant_wallet: 'TB', amount: '9.5', recorded: null },
  ]);
  expect([transfersOnChain('ab', null), transfersOnChain('ab', { outcome: 'unknown' })]).toEqual([[], []]);
});
