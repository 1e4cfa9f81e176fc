import { lookUpTransaction } from '@quittance/chain-reader/chain/look-up.ts';
import { poll } from '@quittance/chain-reader/chain/poll.ts';
import { matchRange, readRange } from '@quittance/chain-reader/chain/read-range.ts';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { gatherEvidence } from '@quittance/chain-reader/chain/verify.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import type { Answer, Call } from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { startReading } from '../../../packages/chain-reader/test/reading.ts';
import { servePart } from '../part.ts';
import { isObject, textOf, wholeNumber, type Json, type Verdict } from '../target.ts';

/** Blocks with a transfer each; the last few are what a poll finds. */
const BLOCKS = 24;
const POLLED = 3;

const reading = await startReading();
const { chain, node } = reading;
const wallet = newWallet().toLowerCase();
const first = (await reading.head()).number + 1;
let transaction = '';
for (let block = 0; block < BLOCKS; block += 1) transaction = await chain.transfer(wallet, BigInt(block + 1));
const last = first + BLOCKS - 1;
const local = await reading.scannedTo(last - POLLED);

/** Each is what chain-watcher does at some time; it ends with the transfers that would be stored. */
const reads: Record<string, (rpc: RpcProvider) => Promise<readonly Transfer[]>> = {
  async poll(rpc) {
    const seen = await poll(rpc, reading.pollContext(local, [wallet]));
    return seen.kind === 'blocks' ? seen.transfers : [];
  },
  async range(rpc) {
    const range = await readRange(rpc, reading.network, first, last, null);
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

async function put(input: Json): Promise<Verdict> {
  if (!isObject(input)) return { problems: [], outcome: 'no answer' };
  spoil(input);
  const what = reads[textOf(input['read'])] ?? reads['poll']!;
  try {
    const transfers = await reading.read(what);
    const wrong = transfers.filter((transfer) => !isStorable(transfer));
    return {
      problems: wrong.map((one) => `cannot be stored: ${inspect(one)}`),
      outcome: `${transfers.length} transfers`,
    };
  } catch (error) {
    // Anything else would be taken for a fault of ours, and no other endpoint asked.
    const isRefused = (error as Error).name === 'RpcError';
    const text = isRefused ? (error as Error).message : String((error as Error).stack);
    return { problems: isRefused ? [] : [text.slice(0, 600)], outcome: isRefused ? text.split(':')[0]! : 'broken' };
  } finally {
    node.spoil(null);
    node.refuse(null);
  }
}

function spoil({ method, changes, error, body }: { [name: string]: Json }): void {
  if (isObject(body)) {
    const reply = { status: statusOf(body['status']), body: textOf(body['text']), headers: headersOf(body['headers']) };
    let isFirst = true;
    node.refuse(() => (isFirst ? ((isFirst = false), reply) : undefined));
    return;
  }
  node.spoil((call: Call, answer: Answer) => {
    if (call.method !== method) return undefined;
    if (isObject(error)) return { result: undefined, error: error as Required<Answer>['error'] };
    const changed = { result: structuredClone(answer.result) as Json };
    for (const change of Array.isArray(changes) ? changes : []) {
      if (isObject(change) && Array.isArray(change['at']))
        replace(changed, ['result', ...change['at']], change['value'] ?? null);
    }
    return changed;
  });
}

/** Puts a value to its place, if the answer has that place or one that leads there. */
function replace(root: Json, path: readonly Json[], value: Json): void {
  let holder = root;
  for (const step of path.slice(0, -1)) {
    if (typeof holder !== 'object' || holder === null) return;
    holder = (holder as Record<string, Json>)[textOf(step)] ?? null;
  }
  if (typeof holder === 'object' && holder !== null)
    Object.defineProperty(holder, textOf(path.at(-1)), { value, enumerable: true, configurable: true, writable: true });
}

/** Those that Node would send. */
const statusOf = (value: Json | undefined): number => Math.min(999, Math.max(200, wholeNumber(value, 200)));

/** Those that Node would send. */
const headersOf = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {})
      .map(([name, text]) => [name.replaceAll(/[^\w-]/g, '') || 'x', textOf(text).replaceAll(/[^ -~]/g, '')] as const)
      .filter(([name]) => !/^(content-length|transfer-encoding|connection|trailer|expect|upgrade)$/i.test(name)),
  );

/** As the columns of the table take it. */
function isStorable(one: Transfer): boolean {
  const isHash = (text: string) => /^(0x)?[0-9a-f]{64}$/.test(text);
  const isAddress = (text: string) => /^0x[0-9a-f]{40}$/.test(text);
  const isInt = (value: number, max: number) => Number.isSafeInteger(value) && value >= 0 && value <= max;
  return (
    isHash(one.transactionId) &&
    isHash(one.blockHash) &&
    isAddress(one.from) &&
    one.to === wallet &&
    isInt(one.transactionEventIndex, 2 ** 31 - 1) &&
    isInt(one.blockNumber, Number.MAX_SAFE_INTEGER) &&
    isInt(one.blockTimestamp, 8_000_000_000_000) &&
    one.amountUnits >= 0n &&
    one.amountUnits < 2n ** 256n
  );
}

const inspect = (one: Transfer): string =>
  JSON.stringify(one, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));

await servePart({
  put,
  async check() {
    const { outcome } = await put({ read: 'range', method: '', changes: [], error: null, body: null });
    return outcome === `${BLOCKS} transfers` ? [] : [`a good node's range came to: ${outcome}`];
  },
  close: () => reading.close(),
});
