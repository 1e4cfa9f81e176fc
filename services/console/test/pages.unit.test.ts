import { expect, test } from '@jest/globals';
import type { DescribedEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { candidatesOf, reasonsView } from '@quittance/operator/transfers.ts';
import type { AnyViewer } from '../src/frame.ts';
import { errorWords, eventMoments, warningsPart } from '../src/story.ts';
import { transfersOnChain } from '../src/transfers.ts';
import { cell, render } from '../src/view.ts';

const viewer: AnyViewer = { name: 'olga', role: 'viewer', formToken: '' };
const shown = (candidates: string[], elsewhere = false): string => {
  const shownCell = cell(candidatesOf({ candidates, candidates_elsewhere: elsewhere }), viewer);
  return String(shownCell?.html ?? null).replaceAll(/\s+/g, ' ');
};

const [a, b] = ['a', 'b'].map((letter) => `pay_${letter.repeat(32)}`) as [string, string];
const linked = (id: string) => `<a href="/payments/${id}">${id}</a>`;

test('a payment is named alone only when it is the only one that a transfer may be for', () => {
  expect(shown([])).toBe('null');
  expect(shown([a])).toBe(linked(a));
  expect(shown([], true)).toBe('May be for a payment of another merchant');
  expect(shown([a], true)).toBe(`May be for ${linked(a)}, also for a payment of another merchant`);
  expect(shown([a, b])).toMatch(new RegExp(`^May be for 2 payments <ul .*${linked(a)}.*${linked(b)}.*</ul>$`));
  expect(shown([a, b], true)).toContain('May be for 2 payments, also for a payment of another merchant <ul');
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
