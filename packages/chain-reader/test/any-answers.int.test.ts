import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Answer, Call } from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { damagedJson, damages, type Json } from '@quittance/testkit/damaged.ts';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import type { LocalChain } from '../src/chain/local-chain.ts';
import { lookUpTransaction } from '../src/chain/look-up.ts';
import { poll } from '../src/chain/poll.ts';
import { matchRange, readRange } from '../src/chain/read-range.ts';
import type { Transfer } from '../src/chain/transfers.ts';
import { gatherEvidence } from '../src/chain/verify.ts';
import type { RpcProvider } from '../src/rpc/provider.ts';
import { startReading, type Reading } from './reading.ts';

/** Blocks with a transfer each; a poll finds the last few. */
const BLOCKS = 24;
const POLLED = 3;
const TIMEOUT_MS = 900_000;
const RUNS = { numRuns: amountOf({ short: 60, long: 600 }), seed: seedOf(20_261_127) };

const wallet = newWallet().toLowerCase();
let reading: Reading;
let local: LocalChain;
let first: number;
let transaction: string;

beforeAll(async () => {
  reading = await startReading();
  first = (await reading.head()).number + 1;
  for (let block = 0; block < BLOCKS; block += 1) transaction = await reading.chain.transfer(wallet, BigInt(block + 1));
  local = await reading.scannedTo(first + BLOCKS - 1 - POLLED);
});
afterAll(() => reading.close());

/** What chain-watcher reads, up to the transfers that it would store. */
const reads: Record<string, (rpc: RpcProvider) => Promise<readonly Transfer[]>> = {
  async poll(rpc) {
    const seen = await poll(rpc, reading.pollContext(local, [wallet]));
    return seen.kind === 'blocks' ? seen.transfers : [];
  },
  async range(rpc) {
    const range = await readRange(rpc, reading.network, first, first + BLOCKS - 1, null);
    return matchRange(rpc, reading.network, range, new Set([wallet]));
  },
  async verify(rpc) {
    const event = { transactionId: transaction.slice(2), transactionEventIndex: 0 };
    const evidence = await gatherEvidence(rpc, reading.network, event, true);
    return evidence.kind === 'present' ? [evidence.transfer] : [];
  },
  async 'look-up'(rpc) {
    await lookUpTransaction(rpc, reading.network, transaction.slice(2));
    return [];
  },
};

/** @returns the transfers, or null for answers that were refused. @throws any error that would count as a fault of ours. */
async function attempt(name: string): Promise<readonly Transfer[] | null> {
  try {
    return await reading.read(reads[name]!);
  } catch (error) {
    if ((error as Error).name !== 'RpcError') throw error;
    return null;
  } finally {
    reading.node.spoil(null);
    reading.node.refuse(null);
  }
}

/** As the columns of the table accept it. */
function isStorable(one: Transfer): boolean {
  const isHash = (text: string) => /^(0x)?[0-9a-f]{64}$/.test(text);
  const isInt = (value: number, max: number) => Number.isSafeInteger(value) && value >= 0 && value <= max;
  return (
    isHash(one.transactionId) &&
    isHash(one.blockHash) &&
    /^0x[0-9a-f]{40}$/.test(one.from) &&
    one.to === wallet &&
    isInt(one.transactionEventIndex, 2 ** 31 - 1) &&
    isInt(one.blockNumber, Number.MAX_SAFE_INTEGER) &&
    isInt(one.blockTimestamp, 8_000_000_000_000) &&
    one.amountUnits >= 0n &&
    one.amountUnits < 2n ** 256n
  );
}

const anyRead = fc.constantFrom(...Object.keys(reads));
const anyMethod = fc.constantFrom(
  ...['eth_getLogs', 'eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getBlockReceipts'],
  ...['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_chainId', 'eth_blockNumber'],
);

/** An error in place of the answer, mostly none. Providers put anything there. */
const anyError = fc.option(damagedJson([{}, { code: -32005, message: 'limit is 10 blocks' }]), { freq: 2 });

test(
  'a damaged answer of a node, or an error in its place, is used whole or refused as an RpcError, and a good node is read afterwards',
  async () => {
    await fc.assert(
      fc.asyncProperty(anyRead, anyMethod, damages, anyError, async (name, method, damage, error) => {
        reading.node.spoil((call: Call, answer: Answer) => {
          if (call.method !== method || answer.result === undefined) return undefined;
          if (error !== null) return { result: undefined, error: error as Required<Answer>['error'] };
          const result = damage({ result: answer.result as Json });
          return isHolder(result) ? { result: result['result'] } : {};
        });
        expect((await attempt(name))?.filter((transfer) => !isStorable(transfer)) ?? []).toEqual([]);
      }),
      {
        ...RUNS,
        examples: [
          ['verify', 'eth_getTransactionReceipt', same, {}],
          ['poll', 'eth_getLogs', same, {}],
          ['look-up', 'eth_getTransactionByHash', same, {}],
          ['poll', 'eth_getBlockByNumber', same, []],
          ['range', 'eth_getLogs', same, false],
          ['range', 'eth_getLogs', same, { code: '-32005', message: 1000 }],
          ['range', 'eth_getLogs', same, { code: -32005, message: 'limit is 10 blocks' }],
        ],
      },
    );
    expect(await attempt('range')).toHaveLength(BLOCKS);
  },
  TIMEOUT_MS,
);

const same = (sample: Json): Json => sample;

const isHolder = (value: Json): value is { result: Json } =>
  typeof value === 'object' && value !== null && 'result' in value;

test(
  'a failure, a status, a body and headers of any kind are refused as an RpcError',
  async () => {
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      damagedJson([
        { jsonrpc: '2.0', id: 1, result: '0x1' },
        { jsonrpc: '2.0', id: 1, error: { code: -32005, message: 'no' } },
      ]).map((value) => JSON.stringify(value)),
    );
    const headers = fc.dictionary(
      fc.constantFrom('retry-after', 'content-type', 'x'),
      fc.constantFrom('1', '-1', 'x', ''),
    );
    await fc.assert(
      fc.asyncProperty(anyRead, fc.integer({ min: 200, max: 999 }), body, headers, async (name, status, text, head) => {
        let isFirst = true;
        reading.node.refuse(() => {
          const reply = isFirst ? { status, body: text, headers: head } : undefined;
          isFirst = false;
          return reply;
        });
        expect((await attempt(name))?.filter((transfer) => !isStorable(transfer)) ?? []).toEqual([]);
      }),
      {
        ...RUNS,
        examples: [
          ['poll', 200, '{"error":"no"}', {}],
          ['range', 429, 'no', { 'retry-after': '1' }],
          ['poll', 200, '[{"at":["status"],"value":"0x0"}]', {}],
        ],
      },
    );
    expect(await attempt('range')).toHaveLength(BLOCKS);
  },
  TIMEOUT_MS,
);
