import { describe, expect, test } from '@jest/globals';
import type { WithTransfer } from '../src/queries/payment-views.ts';
import { confirmationsBy, withCurrentConfirmations } from '../src/views/confirmations.ts';

/** A transfer in block 100, heard of 10 s before it was read, at 50 000 of this process's clock. */
const heardOf = { confirmations: 1, confirmations_required: 12 };
const READ_AT = 50_000;
const NEWS_AT = READ_AT - 10_000;
const confirmations = (
  height: number,
  { askedAt = READ_AT, ...ledger }: Partial<typeof heardOf & { askedAt: number; network: string }> = {},
) =>
  confirmationsBy(
    {
      heights: new Map([
        ['local', height],
        ['tron', 9_000],
      ]),
      askedAt,
    },
    {
      ...{ network: 'local', transaction_id: 'ab', block_number: 100n, ...heardOf, ...ledger },
      // The database's clock says something else altogether.
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

test('confirmations of each network are counted by its own tip, and stay as they are without one', () => {
  expect(['local', 'tron', 'elsewhere'].map((network) => confirmations(105, { network }))).toEqual([6, 12, 1]);
});

describe('a tip', () => {
  test('counts when it was asked for after the transfer’s message, whatever the two clocks say', () => {
    const asked = (askedAt: number) => confirmations(105, { askedAt });
    expect([NEWS_AT, NEWS_AT + 1, READ_AT + 20].map(asked)).toEqual([6, 6, 6]);
    expect([NEWS_AT - 1, 0, -Infinity].map(asked)).toEqual([1, 1, 1]);
  });
});

describe('chain-watcher', () => {
  const moment = new Date('2020-01-01T00:00:00.000Z');
  const transfer = {
    transaction_id: 'ab',
    transaction_event_index: 0,
    block_number: 100n,
    confirmations_required: 12,
    observed_at: moment,
  };
  const row = (status: string, confirmations: number | null): WithTransfer => ({
    ...{ status, network: 'local', read_at: moment },
    ...(confirmations === null ? { transaction_id: null } : { ...transfer, confirmations }),
  });
  const nothingToCount = [
    row('PENDING', null),
    row('CHECKING', 12),
    row('CHECKING', 40),
    row('PAID', 3),
    row('EXPIRED', null),
    row('CANCELLED', null),
  ];
  async function count(rows: WithTransfer[]) {
    let asked = 0;
    const readTips = async () => {
      asked += 1;
      return { heights: new Map([['local', 105]]), askedAt: Infinity };
    };
    const counted = await withCurrentConfirmations(rows, readTips);
    return { asked, counted };
  }

  test('is not asked when no payment waits for confirmations', async () => {
    expect(await count([])).toEqual({ asked: 0, counted: [] });
    expect(await count(nothingToCount)).toEqual({ asked: 0, counted: nothingToCount });
  });

  test('is asked once for all that wait, and nothing changes for the others', async () => {
    const { asked, counted } = await count([...nothingToCount, row('CHECKING', 1), row('CHECKING', 11)]);
    expect(asked).toBe(1);
    expect(counted).toEqual([...nothingToCount, row('CHECKING', 6), row('CHECKING', 11)]);
  });
});
