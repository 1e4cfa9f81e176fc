import { TRANSFER_TOPIC } from '@quittance/chain-reader/chain/transfers.ts';
import { hexOf, type RawHeader, type RawLog, type RawReceipt, type RecordedChain } from './recorded-blocks.ts';

export type Call = { id: number; method: string; params: unknown[] };
export type Outcome = { result: unknown } | { error: { code: number; message: string } };

type Told = { call: Call; outcome: Outcome; chain: RecordedChain; head: number };

/**
 * What an endpoint says instead of the truth.
 * `seen_through`: it contradicts itself, or another endpoint is asked in time, so that nothing wrong is ever told.
 * `hides`: transfers are missing until the blocks are read through another endpoint.
 * `consistent`: every answer fits every other one. Only the reading through another endpoint shows it, and an incident says so.
 */
export type Lie = {
  name: string;
  kind: 'seen_through' | 'hides' | 'consistent';
  /** @returns null to leave the answer unchanged. */
  change?: (told: Told) => Outcome | null;
  /** Changes the whole body. */
  spoil?: (body: string) => string;
};

/** @param token the contract, 20-byte hex. */
export function liesAbout(token: string): Lie[] {
  const isOwn = (log: RawLog): boolean =>
    log.address.toLowerCase() === token && log.topics.length === 3 && log.topics[0]?.toLowerCase() === TRANSFER_TOPIC;
  return [...logLies(isOwn, token), ...receiptLies(isOwn), ...headerLies, ...formLies, ...consistentLies(isOwn)];
}

type IsOwn = (log: RawLog) => boolean;
type ChangeLog = (log: RawLog) => RawLog;

const wrongAmount: ChangeLog = (log) => ({ ...log, data: wordOf(BigInt(log.data) + 1n) });
const wrongTopic = (log: RawLog, position: number, value: string): RawLog => ({
  ...log,
  topics: log.topics.with(position, value),
});
/** The sender receives what it has sent, in case a payment waits on that wallet. */
const sentBack: ChangeLog = (log) => ({ ...log, topics: [log.topics[0]!, log.topics[2]!, log.topics[1]!] });

const logLies = (isOwn: IsOwn, token: string): Lie[] => {
  const eachOwn = (name: string, change: ChangeLog): Lie =>
    inLogs(name, (logs) => (logs.some(isOwn) ? logs.map((log) => (isOwn(log) ? change(log) : log)) : null));
  const firstOwn = (name: string, change: (logs: RawLog[], at: number) => RawLog[] | null, kind?: Lie['kind']): Lie =>
    inLogs(name, (logs) => (logs.some(isOwn) ? change(logs, logs.findIndex(isOwn)) : null), kind);
  return [
    eachOwn('logs: another amount', wrongAmount),
    eachOwn('logs: another sender', (log) => wrongTopic(log, 1, log.topics[2]!)),
    eachOwn('logs: another recipient', (log) => wrongTopic(log, 2, log.topics[1]!)),
    eachOwn('logs: sender and recipient exchanged', sentBack),
    eachOwn('logs: a number too long', (log) => ({ ...log, data: `${log.data}${'0'.repeat(64)}` })),
    eachOwn('logs: another block', (log) => ({ ...log, blockHash: anyHash(1) })),
    eachOwn('logs: another height', (log) => ({ ...log, blockNumber: hexOf(Number(log.blockNumber) + 1) })),
    eachOwn('logs: another transaction', (log) => ({ ...log, transactionHash: anyHash(2) })),
    eachOwn('logs: another place in the block', (log) => ({ ...log, logIndex: hexOf(Number(log.logIndex) + 1) })),
    eachOwn('logs: removed', (log) => ({ ...log, removed: true })),
    eachOwn('logs: numbers in place of text', (log) => ({
      ...log,
      logIndex: Number(log.logIndex) as unknown as string,
    })),
    eachOwn('logs: null', () => null as unknown as RawLog),
    inLogs('logs: in reversed order', (logs) => (logs.length > 1 ? logs.toReversed() : null)),
    inLogs('logs: none', (logs) => (logs.length > 0 ? [] : null)),
    on('logs: null in place of a list', 'eth_getLogs', () => ({ result: null })),
    firstOwn('logs: the first transfer left out', (logs, at) => logs.toSpliced(at, 1), 'hides'),
    firstOwn(
      'logs: another event of the token',
      (logs, at) => logs.with(at, wrongTopic(logs[at]!, 0, anyHash(3))),
      'hides',
    ),
    firstOwn('logs: the first transfer twice', (logs, at) => logs.toSpliced(at, 0, logs[at]!)),
    firstOwn('logs: two transfers at one place', (logs, at) => logs.toSpliced(at, 0, wrongAmount(logs[at]!))),
    firstOwn('logs: a transfer of no transaction', (logs, at) => [
      ...logs,
      { ...logs[at]!, transactionHash: anyHash(4), logIndex: '0xffff' },
    ]),
    firstOwn('logs: one transfer more in a transaction', (logs, at) => [...logs, { ...logs[at]!, logIndex: '0xffff' }]),
    inLogs("logs: another contract's events as the token's", (logs) =>
      logs.some(isOwn) ? logs.map((log) => ({ ...log, address: token })) : null,
    ),
    on('logs: those of the block below', 'eth_getLogs', ({ call, chain }) => {
      const [{ blockHash }] = call.params as [{ blockHash?: string }];
      const below = [...chain.blocks.values()].find(({ header }) => header.hash === blockHash)?.header.parentHash;
      const other = [...chain.blocks.values()].find(({ header }) => header.hash === below);
      const logs = other?.receipts.flatMap((receipt) => receipt.logs).filter(isOwn) ?? [];
      return logs.length > 0 ? { result: logs } : null;
    }),
  ];
};

const receiptLies = (isOwn: IsOwn): Lie[] => {
  const own = (name: string, change: (receipt: RawReceipt) => RawReceipt | null, kind?: Lie['kind']): Lie =>
    inReceipts(name, (receipt) => (receipt.logs.some(isOwn) ? change(receipt) : receipt), kind);
  const ownLogs = (name: string, change: (logs: RawLog[], at: number) => RawLog[], kind?: Lie['kind']): Lie =>
    own(name, (receipt) => ({ ...receipt, logs: change(receipt.logs, receipt.logs.findIndex(isOwn)) }), kind);
  return [
    own('receipt: null', () => null),
    own('receipt: of another block', (receipt) => ({ ...receipt, blockHash: anyHash(5) })),
    own('receipt: of another transaction', (receipt) => ({ ...receipt, transactionHash: anyHash(6) })),
    own('receipt: a status that is not a number', (receipt) => ({ ...receipt, status: 1, root: undefined })),
    own('receipt: failed', (receipt) => ({ ...receipt, status: '0x0', root: undefined }), 'hides'),
    ownLogs('receipt: no events', () => []),
    ownLogs('receipt: another amount', (logs, at) => logs.with(at, wrongAmount(logs[at]!))),
    ownLogs('receipt: the transfer left out', (logs, at) => logs.toSpliced(at, 1)),
    ownLogs('receipt: in reversed order', (logs) => logs.toReversed()),
    ownLogs('receipt: the transfer twice', (logs, at) => logs.toSpliced(at, 0, logs[at]!)),
    ownLogs('receipt: the transfer first as well', (logs, at) => [logs[at]!, ...logs]),
    ownLogs('receipt: an event of an earlier transaction before it', (logs, at) => [
      { ...logs[at]!, transactionHash: anyHash(7), logIndex: '0x0' },
      ...logs,
    ]),
    ownLogs('receipt: an event put between two', (logs, at) =>
      logs.toSpliced(at, 0, { ...logs[at]!, logIndex: '0xffff' }),
    ),
  ];
};

const headerLies: Lie[] = [
  inHeaders('header: another parent', (header) => ({ ...header, parentHash: anyHash(8) })),
  inHeaders('header: another hash', (header) => ({ ...header, hash: anyHash(9) })),
  inHeaders('header: another height', (header) => ({ ...header, number: hexOf(Number(header.number) + 1) })),
  inHeaders('header: an hour ahead', (header) => ({ ...header, timestamp: hexOf(Number(header.timestamp) + 3600) })),
  inHeaders('header: a day late', (header) => ({ ...header, timestamp: hexOf(Number(header.timestamp) - 86_400) })),
  inHeaders('header: milliseconds', (header) => ({ ...header, timestamp: hexOf(Number(header.timestamp) * 1000) })),
  inHeaders('header: a full filter', (header) => ({ ...header, logsBloom: `0x${'f'.repeat(512)}` })),
  inHeaders('header: half a filter', (header) => ({ ...header, logsBloom: header.logsBloom.slice(0, 258) })),
  inHeaders('header: no list of transactions', ({ transactions: _, ...header }) => header as RawHeader),
  inHeaders('header: null', () => null),
  {
    name: 'header: a far higher head',
    kind: 'seen_through',
    change: ({ call, outcome, head }) =>
      call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest' && 'result' in outcome
        ? { result: { ...(outcome.result as RawHeader), number: hexOf(head + 1000), hash: anyHash(10) } }
        : null,
  },
  {
    name: 'no block has events',
    kind: 'hides',
    change: ({ call, outcome, chain }) => {
      if (call.method === 'eth_getLogs') return { result: [] };
      const header = recordedHeader(outcome, chain);
      return header && { result: { ...header, logsBloom: `0x${'0'.repeat(512)}`, transactions: [] } };
    },
  },
];

const formLies: Lie[] = [
  {
    name: 'another chain',
    kind: 'seen_through',
    change: ({ call }) => (call.method === 'eth_chainId' ? { result: '0x3039' } : null),
  },
  { name: 'half a body', kind: 'seen_through', spoil: (body) => body.slice(0, Math.floor(body.length / 2)) },
  { name: 'a page in place of an answer', kind: 'seen_through', spoil: () => '<html><body>welcome</body></html>' },
  {
    name: 'a batch without its last answer',
    kind: 'seen_through',
    spoil: (body) => {
      const answers = JSON.parse(body) as unknown;
      return Array.isArray(answers) ? JSON.stringify(answers.slice(0, -1)) : body;
    },
  },
  {
    name: 'answers with exchanged ids',
    kind: 'seen_through',
    spoil: (body) => {
      const answers = JSON.parse(body) as { id: number }[];
      if (!Array.isArray(answers)) return body;
      return JSON.stringify(answers.map((answer, at) => ({ ...answer, id: answers[(at + 1) % answers.length]!.id })));
    },
  },
  {
    name: 'errors in place of events',
    kind: 'seen_through',
    change: ({ call }) =>
      call.method === 'eth_getLogs' ? { error: { code: -32000, message: 'out of order today' } } : null,
  },
];

/** The same in logs and receipts, or headers. */
const consistentLies = (isOwn: IsOwn): Lie[] => {
  const everywhere = (name: string, change: ChangeLog): Lie => {
    const changeAll = (logs: RawLog[]) => logs.map((log) => (isOwn(log) ? change(log) : log));
    const [log, receipt] = [
      inLogs(name, (logs) => (logs.some(isOwn) ? changeAll(logs) : null)),
      inReceipts(name, (one) => ({ ...one, logs: changeAll(one.logs) })),
    ];
    return { name, kind: 'consistent', change: (told) => log.change?.(told) ?? receipt.change?.(told) ?? null };
  };
  return [
    everywhere('everywhere another amount', wrongAmount),
    everywhere('everywhere another sender', (log) => wrongTopic(log, 1, log.topics[2]!)),
    everywhere('everywhere another recipient', sentBack),
    {
      ...inReceipts('everywhere one event fewer before the transfer', (receipt) =>
        receipt.logs.findIndex(isOwn) > 0 ? { ...receipt, logs: receipt.logs.slice(1) } : receipt,
      ),
      kind: 'consistent',
    },
    {
      name: 'everywhere ten minutes late',
      kind: 'consistent',
      change: ({ outcome }) => {
        const header = headerIn(outcome);
        return header && { result: { ...header, timestamp: hexOf(Number(header.timestamp) - 600) } };
      },
    },
  ];
};

function on(
  name: string,
  method: string,
  change: (told: Told) => Outcome | null,
  kind: Lie['kind'] = 'seen_through',
): Lie {
  return {
    name,
    kind,
    change: (told) => (told.call.method === method && 'result' in told.outcome ? change(told) : null),
  };
}

/** @param change gets the events of an answer, and returns null to leave it unchanged. */
function inLogs(name: string, change: (logs: RawLog[]) => RawLog[] | null, kind?: Lie['kind']): Lie {
  return on(
    name,
    'eth_getLogs',
    ({ outcome }) => {
      const logs = change((outcome as { result: RawLog[] }).result);
      return logs === null ? null : { result: logs };
    },
    kind,
  );
}

/** For both single receipts and those of a block. */
function inReceipts(
  name: string,
  change: (receipt: RawReceipt) => RawReceipt | null,
  kind: Lie['kind'] = 'seen_through',
): Lie {
  return {
    name,
    kind,
    change({ call, outcome }) {
      if (!('result' in outcome) || outcome.result === null) return null;
      if (call.method === 'eth_getBlockReceipts') return { result: (outcome.result as RawReceipt[]).map(change) };
      return call.method === 'eth_getTransactionReceipt' ? { result: change(outcome.result as RawReceipt) } : null;
    },
  };
}

/** Only for the recorded blocks, so that the blocks in between stay correct. */
function inHeaders(name: string, change: (header: RawHeader) => RawHeader | null): Lie {
  return {
    name,
    kind: 'seen_through',
    change({ outcome, chain }) {
      const header = recordedHeader(outcome, chain);
      return header && { result: change(header) };
    },
  };
}

function headerIn(outcome: Outcome): RawHeader | null {
  const header = 'result' in outcome ? (outcome.result as Partial<RawHeader> | null) : null;
  return header?.parentHash === undefined ? null : (header as RawHeader);
}

function recordedHeader(outcome: Outcome, { blocks }: RecordedChain): RawHeader | null {
  const header = headerIn(outcome);
  return header !== null && blocks.get(Number(header.number))?.isRecorded === true ? header : null;
}

const wordOf = (units: bigint): string => `0x${units.toString(16).padStart(64, '0')}`;
const anyHash = (seed: number): string => `0x${(0xabcdef00 + seed).toString(16).padStart(64, '9')}`;
