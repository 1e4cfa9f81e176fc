import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Answer, Call } from '@quittance/testkit/chain/misbehaving-node.ts';
import type { RawLog, RawReceipt } from './forged-chain.ts';
import { headOf, watchedWallet } from './support.ts';
import {
  CONFIRMATIONS,
  startTwoEndpoints,
  topicOf,
  untilIncident,
  wordOf,
  type TwoEndpoints,
} from './two-endpoints.ts';
import { untilReceived, untilScanned } from './world.ts';

let two: TwoEndpoints;
let world: TwoEndpoints['world'];
let liar: TwoEndpoints['liar'];

beforeAll(async () => {
  two = await startTwoEndpoints();
  ({ world, liar } = two);
});
afterAll(() => two.close());
afterEach(async () => {
  liar.spoil(null);
  await world.chain.mine(1);
  await untilScanned(world);
  await world.pool.query('update incident set resolved_at = now() where resolved_at is null');
});

const paysTo = (wallet: string) => (log: RawLog) => log.topics[2] === topicOf(wallet);

/** Changes the events of all answers in the same way. */
const inEvents =
  (change: (logs: RawLog[]) => RawLog[]) =>
  ({ method }: Call, { result }: Answer): Partial<Answer> | undefined => {
    if (!result) return undefined;
    const inReceipt = (receipt: RawReceipt) => ({ ...receipt, logs: change(receipt.logs) });
    if (method === 'eth_getLogs') return { result: change(result as RawLog[]) };
    if (method === 'eth_getTransactionReceipt') return { result: inReceipt(result as RawReceipt) };
    return method === 'eth_getBlockReceipts' ? { result: (result as RawReceipt[]).map(inReceipt) } : undefined;
  };

const inReceipts =
  (change: (receipt: RawReceipt) => RawReceipt) =>
  ({ method }: Call, { result }: Answer): Partial<Answer> | undefined =>
    method === 'eth_getBlockReceipts' && result ? { result: (result as RawReceipt[]).map(change) } : undefined;

describe('an endpoint that lies in every answer about one block', () => {
  /** `shown`: what it shows. `mine`: a wallet that is paid 5 units in the block. `other`: one that is watched, and paid nothing. */
  const lies: [string, (mine: string, other: string) => (call: Call, answer: Answer) => Partial<Answer> | undefined][] =
    [
      [
        'another amount',
        (mine) => inEvents((logs) => logs.map((log) => (paysTo(mine)(log) ? { ...log, data: wordOf(500n) } : log))),
      ],
      [
        'another recipient',
        (mine, other) =>
          inEvents((logs) =>
            logs.map((log) => (paysTo(mine)(log) ? { ...log, topics: log.topics.with(2, topicOf(other)) } : log)),
          ),
      ],
      [
        'one event more',
        (mine, other) =>
          inEvents((logs) =>
            logs.flatMap((log) =>
              paysTo(mine)(log)
                ? [log, { ...log, logIndex: '0x99', topics: log.topics.with(2, topicOf(other)) }]
                : [log],
            ),
          ),
      ],
      ['one event fewer', (mine) => inEvents((logs) => logs.filter((log) => !paysTo(mine)(log)))],
      ['a failed transaction', () => inReceipts((receipt) => ({ ...receipt, status: '0x0' }))],
      ['a forged receipt', () => inReceipts((receipt) => ({ ...receipt, cumulativeGasUsed: '0x1' }))],
      [
        'an event that only the list of events has',
        (mine, other) =>
          ({ method }, { result }) =>
            method === 'eth_getLogs' && Array.isArray(result)
              ? {
                  result: (result as RawLog[]).flatMap((log) =>
                    paysTo(mine)(log)
                      ? [log, { ...log, logIndex: '0x99', topics: log.topics.with(2, topicOf(other)) }]
                      : [log],
                  ),
                }
              : undefined,
      ],
    ];

  test.each(lies)('%s: only the truth is told, in time, and an incident names the endpoint', async (_, lie) => {
    const [mine, shown, other] = [await watchedWallet(world), await watchedWallet(world), await watchedWallet(world)];
    const before = await headOf(world);
    liar.spoil(lie(mine, other));
    // Two transfers, so that the block has another one to show when the first is hidden.
    await world.chain.transferBatch([
      { to: mine, units: 5n },
      { to: shown, units: 6n },
    ]);
    await world.chain.mine(CONFIRMATIONS - 1);
    const told = await untilReceived(world, mine, ['seen', 'confirmed']);
    expect(told).toEqual(told.map(() => expect.objectContaining({ amount_units: '5', block_number: before + 1 })));
    await untilReceived(world, shown, ['seen', 'confirmed']);
    await untilIncident(world, 'false_answer', { endpoint: 0 });
    expect(world.received.filter(({ to }) => to === other)).toEqual([]);
  });

  test('what it leaves out of the list of events is read from the receipts', async () => {
    const [mine, shown] = [await watchedWallet(world), await watchedWallet(world)];
    liar.spoil(({ method }, { result }) =>
      method === 'eth_getLogs' && Array.isArray(result)
        ? { result: (result as RawLog[]).filter((log) => !paysTo(mine)(log)) }
        : undefined,
    );
    await world.chain.transferBatch([
      { to: mine, units: 5n },
      { to: shown, units: 6n },
    ]);
    await world.chain.mine(CONFIRMATIONS - 1);
    await untilReceived(world, mine, ['seen', 'confirmed']);
    await untilReceived(world, shown, ['seen', 'confirmed']);
    await untilIncident(world, 'false_answer', { endpoint: 0, answer: expect.stringContaining('left out') });
  });
});

test('the second reading of final blocks reads no receipts of a proven block again', async () => {
  const mine = await watchedWallet(world);
  const transaction = await world.chain.transfer(mine, 5n);
  const paid = await headOf(world);
  const { hash } = await world.chain.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false]);
  await world.chain.mine(CONFIRMATIONS);
  await untilReceived(world, mine, ['seen', 'confirmed']);
  await eventually(async () => {
    const { rows } = await world.pool.query<{ audited: number }>(
      'select audited_number::float8 as audited from cursor',
    );
    expect(rows[0]!.audited).toBeGreaterThanOrEqual(paid);
  });
  const isReceipt = ({ method, params }: Call) =>
    method.includes('Receipt') && [transaction, hash].includes(String(params[0]));
  expect([...liar.calls(), ...two.honest.calls()].filter(isReceipt)).toHaveLength(1);
});
