import { describe, expect, test } from '@jest/globals';
import type { Network } from '@quittance/contracts/networks.ts';
import { evmNetwork } from '@quittance/testkit/sample-networks.ts';
import type { WithTransfer } from '../src/payment/view.sql.ts';
import { createConfirmationPolicy, confirmationsBy, withProgress, type WithProgress } from '../src/payment/progress.ts';

/** A transfer in block 100, observed 10 s before it was read, at 50 000 of this process's clock. */
const observed = { confirmations: 1, confirmations_required: 12 };
const READ_AT = 50_000;
const NEWS_AT = READ_AT - 10_000;
const confirmations = (
  height: number,
  { askedAt = READ_AT, ...ledger }: Partial<typeof observed & { askedAt: number; network: string }> = {},
) =>
  confirmationsBy(
    {
      tips: new Map([
        ['local', { network: 'local', height }],
        ['tron', { network: 'tron', height: 9_000 }],
      ]),
      askedAt,
    },
    {
      ...{ network: 'local', transaction_id: 'ab', block_number: 100n, ...observed, ...ledger },
      // The database's clock shows a completely different time.
      ...{ observed_at: new Date('2020-01-01T00:00:00.000Z'), read_at: new Date('2020-01-01T00:00:10.000Z') },
    },
    READ_AT,
  );

test('a block has one confirmation, and each block after it adds one', () => {
  expect([100, 101, 105].map((height) => confirmations(height))).toEqual([1, 2, 6]);
});

test('confirmations are counted up to what is required, and the message’s number is the minimum', () => {
  expect([111, 112, 5_000].map((height) => confirmations(height))).toEqual([12, 12, 12]);
  expect([0, 99, 100, 103].map((height) => confirmations(height, { confirmations: 3 }))).toEqual([3, 3, 3, 4]);
  expect(confirmations(5_000, { confirmations: 40 })).toBe(40);
});

test('confirmations of each network are counted by its own tip, and do not change without one', () => {
  expect(['local', 'tron', 'elsewhere'].map((network) => confirmations(105, { network }))).toEqual([6, 12, 1]);
});

describe('a tip', () => {
  test('counts when it was asked for after the transfer’s message, whatever the two clocks say', () => {
    const asked = (askedAt: number) => confirmations(105, { askedAt });
    expect([NEWS_AT, NEWS_AT + 1, READ_AT + 20].map(asked)).toEqual([6, 6, 6]);
    expect([NEWS_AT - 1, 0, -Infinity].map(asked)).toEqual([1, 1, 1]);
  });
});

const moment = new Date('2020-01-01T00:00:00.000Z');
const transfer = {
  transaction_id: 'ab',
  transaction_event_index: 0,
  block_number: 100n,
  confirmations_required: 12,
  observed_at: moment,
};
type Row = WithTransfer & { amount_units: bigint };
const rowOf = (status: string, confirmations: number | null, amount: number, network: string): Row => ({
  ...{ status, network, read_at: moment, amount_units: BigInt(amount * 1e6) },
  ...(confirmations === null ? { transaction_id: null } : { ...transfer, confirmations }),
});
const two: Network = { ...evmNetwork, rpc_urls: ['http://a', 'http://b'], finalized_above_amount: '100' };
/** Large amounts wait for finality above 100, and for a second endpoint above 1000; on `tron` all wait for finality. */
const policy = createConfirmationPolicy([
  { ...evmNetwork, finality: 'confirmations', finalized_above_amount: '100', agreement_above_amount: '1000' },
  { ...evmNetwork, id: 'tron', finality: 'finalized' },
  { ...two, id: 'two', receipts: 'unproven' },
  { ...two, id: 'proven', receipts: 'proven' },
  { ...two, id: 'alone', receipts: 'proven', rpc_urls: ['http://a'] },
]);

describe('chain-watcher', () => {
  const row = (status: string, confirmations: number | null) => rowOf(status, confirmations, 10, 'local');
  const nothingToCount = [
    row('PENDING', null),
    row('CHECKING', 12),
    row('CHECKING', 40),
    row('PAID', 3),
    row('EXPIRED', null),
    row('CANCELLED', null),
  ];
  const waiting = (rows: Row[], waiting_for: WithProgress['waiting_for'] = null) =>
    rows.map((one) => ({ ...one, waiting_for }));
  async function count(rows: Row[]) {
    let asked = 0;
    const readTips = async () => {
      asked += 1;
      return { tips: new Map([['local', { network: 'local', height: 105 }]]), askedAt: Infinity };
    };
    const counted = await withProgress(rows, { readTips, policy });
    return { asked, counted };
  }

  test('is not asked when no payment waits for confirmations', async () => {
    expect(await count([])).toEqual({ asked: 0, counted: [] });
    expect(await count(nothingToCount)).toEqual({ asked: 0, counted: waiting(nothingToCount) });
  });

  test('is asked once for all that wait, and nothing changes for the others', async () => {
    const { asked, counted } = await count([...nothingToCount, row('CHECKING', 1), row('CHECKING', 11)]);
    expect(asked).toBe(1);
    const counting = waiting([row('CHECKING', 6), row('CHECKING', 11)], 'confirmations');
    expect(counted).toEqual([...waiting(nothingToCount), ...counting]);
  });
});

describe('a transfer that has its confirmations', () => {
  const finals = (final_height: number | null, large_final_height: number | null) => ({
    final_height,
    large_final_height,
  });
  const unknown = {};
  test.each([
    ['is small: for nothing', 10, 'local', finals(120, 90), null],
    ['is large, in a block that is not final: for finality', 101, 'local', finals(120, 99), 'finality'],
    ['is large, in a block that is final: for nothing', 101, 'local', finals(120, 100), null],
    ['is so large that two must agree, not final: for finality first', 1001, 'local', finals(120, 99), 'finality'],
    [
      'is so large that two must agree, final: for the second endpoint',
      1001,
      'local',
      finals(120, 100),
      'second_endpoint',
    ],
    ['is of a network that waits for finality, not final: for finality', 10, 'tron', finals(99, 99), 'finality'],
    ['is of a network that waits for finality, final: for nothing', 10, 'tron', finals(100, 100), null],
    [
      'is large, final, of a network with two endpoints: for the second one',
      101,
      'two',
      finals(120, 100),
      'second_endpoint',
    ],
    ['is small, of a network with two endpoints: for nothing', 10, 'two', finals(120, 90), null],
    [
      'is small, where blocks prove it to two endpoints: for the second one',
      10,
      'proven',
      finals(120, 90),
      'second_endpoint',
    ],
    [
      'is large, where blocks prove it to two endpoints, not final: for finality',
      101,
      'proven',
      finals(120, 99),
      'finality',
    ],
    ['is small, where blocks prove it to one endpoint: for nothing', 10, 'alone', finals(120, 90), null],
    ['is large, of a network that has nothing final: for finality', 101, 'local', finals(null, null), 'finality'],
    ['is large, while chain-watcher does not say: for finality', 101, 'local', unknown, 'finality'],
  ] as const)('%s', async (_what, amount, network, final, expected) => {
    const readTips = async () => ({
      tips: new Map([[network, { network, height: 120, ...final }]]),
      askedAt: Infinity,
    });
    const waitingFor = async (status: string) => {
      const [row] = await withProgress([rowOf(status, 12, amount, network)], { readTips, policy });
      return row!.waiting_for;
    };
    expect(await waitingFor('CHECKING')).toBe(expected);
    expect(await waitingFor('PAID')).toBeNull();
  });
});
