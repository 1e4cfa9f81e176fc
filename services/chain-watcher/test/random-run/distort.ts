import { randomBytes } from 'node:crypto';
import type { Chance } from './chance.ts';
import type { ChainHistory, Log, Receipt } from './chain-history.ts';
import type { FaultKind } from './plan-faults.ts';
import { hexOf, type Answer, type Call } from './stale-node.ts';

type Told = { call: Call; answer: Answer; token: string; chronicle: ChainHistory; chance: Chance };
type Distortion = (told: Told) => Answer | null;

/** @returns the changed answer, or null when this fault does not change such an answer. */
export function distort(fault: FaultKind, told: Told): Answer | null {
  if ('error' in told.answer) return null;
  return distortions[fault]?.(told) ?? null;
}

const LARGEST_RANGE = 5;
const KEPT_BLOCKS = 24;
const refusals = [
  { code: -32701, message: 'Please specify an address in your request' },
  { code: -32601, message: 'the method eth_getLogs does not exist/is not available' },
  { code: -32099, message: 'not today' },
];

const distortions: Partial<Record<FaultKind, Distortion>> = {
  'empty logs': onLogs((logs) => (logs.length > 0 ? [] : null)),
  'foreign logs': onLogs((logs) => (logs.length > 0 ? logs.map((log) => ({ ...log, blockHash: anyHash() })) : null)),
  'invented log': onLogs((logs, told) => {
    const place = placeFor(logs, told);
    return place === null ? null : [...logs, inventLog(told, place)];
  }),
  'altered log': onLogs((logs, { chance }) => {
    if (logs.length === 0) return null;
    const position = chance.below(logs.length);
    const log = logs[position]!;
    const altered = chance.pick([
      { ...log, data: `0x${'0'.repeat(56)}${randomBytes(4).toString('hex')}` },
      { ...log, transactionHash: chance.pick(logs).transactionHash },
      { ...log, logIndex: hexOf(Number(log.logIndex) + 1) },
    ]);
    return logs.with(position, altered);
  }),
  'null receipts': on('eth_getTransactionReceipt', () => ({ result: null })),
  'foreign receipts': onReceipt((receipt) => ({ ...receipt, blockHash: anyHash() })),
  'null blocks': on(['eth_getBlockByHash', 'eth_getBlockByNumber'], () => ({ result: null })),
  'range error': on('eth_getLogs', ({ call }) => {
    const [{ fromBlock, toBlock }] = call.params as [{ fromBlock?: string; toBlock?: string }];
    if (fromBlock === undefined || Number(toBlock) - Number(fromBlock) < LARGEST_RANGE) return null;
    return { error: { code: -32005, message: 'query returned more than 10000 results' } };
  }),
  'capped logs': on('eth_getLogs', ({ answer }) =>
    (answer.result as Log[]).length > 0
      ? { error: { code: -32005, message: 'query returned more than 10000 results' } }
      : null,
  ),
  'refused logs': on('eth_getLogs', ({ chance }) => ({ error: chance.pick(refusals) })),
  'pruned history': ({ call, answer, chronicle }) => {
    const oldest = chronicle.view(0).length - KEPT_BLOCKS;
    const [asked] = call.params as [string | { fromBlock?: string }];
    if (call.method === 'eth_getLogs' && typeof asked !== 'string')
      return Number(asked.fromBlock) < oldest ? { error: { code: 4444, message: 'pruned history unavailable' } } : null;
    // Blocks by number and hash, and receipts.
    const { number, blockNumber } = (answer.result ?? {}) as { number?: string; blockNumber?: string };
    return Number(number ?? blockNumber) < oldest ? { result: null } : null;
  },
  'no finalized block': on('eth_getBlockByNumber', (told) =>
    told.call.params[0] === 'finalized' ? told.chance.pick([noTag, unknownBlock, noBlock, olderBlock])(told) : null,
  ),
  'call error': ({ chance }) =>
    chance.happens(0.3)
      ? { error: { code: -32000, message: chance.pick(['header not found', 'execution timeout']) } }
      : null,
  // The following faults cannot be detected at this endpoint.
  'hidden log': onLogs((logs, { chance }) => (logs.length > 1 ? logs.toSpliced(chance.below(logs.length), 1) : null)),
  'redirected log': onLogs((logs, { chance }) => {
    if (logs.length === 0) return null;
    const position = chance.below(logs.length);
    const { topics } = logs[position]!;
    return logs.with(position, {
      ...logs[position]!,
      topics: topics.with(-1, `0x${'0'.repeat(24)}${'ff'.repeat(20)}`),
    });
  }),
  'hidden block': (told) => {
    if (told.call.method === 'eth_getLogs') return { result: [] };
    const block = told.answer.result as { logsBloom?: string } | null;
    return block?.logsBloom === undefined ? null : { result: { ...block, logsBloom: `0x${'0'.repeat(512)}` } };
  },
  'failed receipts': onReceipt((receipt) => ({ ...receipt, status: '0x0' })),
};

const noTag = (): Answer => ({ error: { code: -32602, message: 'invalid block tag' } });
const unknownBlock = (): Answer => ({ error: { code: -39001, message: 'Unknown block' } });
const noBlock = (): Answer => ({ result: null });

function olderBlock({ answer, chronicle, chance }: Told): Answer {
  const height = Number((answer.result as { number?: string } | null)?.number ?? 0) - chance.between(1, 20);
  return { result: chronicle.find(chronicle.view(0)[Math.max(0, height)] ?? '')?.block ?? null };
}

function on(methods: string | string[], change: Distortion): Distortion {
  return (told) => ([methods].flat().includes(told.call.method) ? change(told) : null);
}

function onLogs(change: (logs: Log[], told: Told) => Log[] | null): Distortion {
  return on('eth_getLogs', (told) => {
    const logs = change(told.answer.result as Log[], told);
    return logs === null ? null : { result: logs };
  });
}

function onReceipt(change: (receipt: Receipt) => Receipt): Distortion {
  return on('eth_getTransactionReceipt', ({ answer }) => {
    const receipt = answer.result as Receipt | null;
    return receipt === null ? null : { result: change(receipt) };
  });
}

/** The place that an invented log claims: in the requested block, or one of the requested blocks. */
function placeFor(logs: readonly Log[], { call, chronicle }: Told): Pick<Log, 'blockHash' | 'blockNumber'> | null {
  const beside = logs[0];
  if (beside !== undefined) return { blockHash: beside.blockHash, blockNumber: beside.blockNumber };
  const [{ blockHash, toBlock }] = call.params as [{ blockHash?: string; toBlock?: string }];
  const hash = blockHash ?? chronicle.view(0)[Number(toBlock)];
  const block = chronicle.find(hash ?? '')?.block;
  return block === undefined ? null : { blockHash: block.hash, blockNumber: block.number };
}

/** A transfer of a lot of money to a wallet that a payment waits for, if the request names one. */
function inventLog({ call, token, chronicle }: Told, place: Pick<Log, 'blockHash' | 'blockNumber'>): Log {
  const [{ topics }] = call.params as [{ topics?: (string | string[] | null)[] }];
  const wanted = [topics?.[2] ?? []].flat()[0];
  const model = latestTransfer(chronicle, token);
  const to = wanted ?? model?.topics[2] ?? anyHash();
  return {
    ...{ address: token, topics: [model?.topics[0] ?? anyHash(), `0x${'0'.repeat(63)}1`, to], removed: false },
    ...{ data: `0x${'0'.repeat(48)}${randomBytes(8).toString('hex')}`, transactionHash: anyHash() },
    ...{ transactionIndex: hexOf(0), logIndex: hexOf(500) },
    ...place,
  };
}

function latestTransfer(chronicle: ChainHistory, token: string): Log | undefined {
  for (const hash of chronicle.view(0).slice(-30).reverse()) {
    const logs = chronicle.find(hash)?.receipts.flatMap((receipt) => receipt.logs) ?? [];
    const found = logs.find((log) => log.address.toLowerCase() === token.toLowerCase() && log.topics.length === 3);
    if (found !== undefined) return found;
  }
  return undefined;
}

const anyHash = (): string => `0x${randomBytes(32).toString('hex')}`;
