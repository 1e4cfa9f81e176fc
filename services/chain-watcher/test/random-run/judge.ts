import type { Span } from './payment-publisher.ts';
import type { ChainHistory } from './chain-history.ts';
import type { ReceivedMessage, Observed } from './transfer-queue.ts';
import { eventOf, transfersIn, type ToldTransfer } from './replay.ts';
import type { Stored, StoredTransfer } from './stored.ts';

/** Everything that is compared when the run has ended. */
export type Evidence = {
  /** Every transfer of the canonical chain. */
  told: readonly ToldTransfer[];
  stored: Stored;
  received: readonly ReceivedMessage[];
  chronicle: ChainHistory;
  token: string;
  spans: readonly Span[];
  /** How many confirmations a transfer of this many base units needs. */
  confirmationsFor: (units: string) => number;
  /** Whether an endpoint gave false answers that only another endpoint reveals. */
  hides: boolean;
};

const FIELDS = ['blockNumber', 'blockHash', 'timestamp', 'from', 'to', 'units'] as const;

/** @returns every broken guarantee, with the rows that show it. */
export function judge(evidence: Evidence): string[] {
  const history = historyOf(evidence);
  return [
    ...judgeTable(evidence),
    ...judgeInventions(evidence, history),
    ...judgeMessages(evidence, history),
    ...judgeIncidents(evidence),
  ];
}

/** The transfers that must be known, in their present blocks. */
export function required({ told, spans }: Pick<Evidence, 'told' | 'spans'>): ToldTransfer[] {
  const byWallet = Map.groupBy(spans, ({ wallet }) => wallet);
  return told.filter(({ to, timestamp }) =>
    (byWallet.get(to) ?? []).some(({ from, until }) => timestamp >= from && timestamp <= until),
  );
}

function judgeTable(evidence: Evidence): string[] {
  const { told, stored, spans } = evidence;
  const broken: string[] = [];
  const counting = Map.groupBy(
    stored.transfers.filter(({ phase }) => phase !== 'retracted'),
    eventOf,
  );
  for (const transfer of required(evidence)) {
    if (!counting.has(eventOf(transfer))) broken.push(`lost: ${tellStory(evidence, transfer)}`);
  }
  const canonical = new Map(told.map((transfer) => [eventOf(transfer), transfer]));
  const watched = new Set(spans.map(({ wallet }) => wallet));
  for (const rows of counting.values()) {
    const [row] = rows as [StoredTransfer];
    const real = canonical.get(eventOf(row));
    if (rows.length > 1) broken.push(`counted twice: ${tellStory(evidence, row)}`);
    if (real === undefined) broken.push(`counted, but not in the chain: ${tellStory(evidence, row)}`);
    else if (FIELDS.some((field) => row[field] !== real[field])) broken.push(`wrong: ${tellStory(evidence, row)}`);
    if (!watched.has(row.to)) broken.push(`to a wallet that nobody waits for: ${tellStory(evidence, row)}`);
    if (row.phase !== 'confirmed') broken.push(`still ${row.phase}: ${tellStory(evidence, row)}`);
  }
  return broken;
}

/** By event and block: every transfer that any block ever held. */
function historyOf({ chronicle, token }: Evidence): Map<string, ToldTransfer> {
  const history = new Map<string, ToldTransfer>();
  for (const { block, receipts } of chronicle.all()) {
    for (const transfer of transfersIn(block, receipts, token))
      history.set(`${eventOf(transfer)} ${transfer.blockHash}`, transfer);
  }
  return history;
}

function judgeInventions(evidence: Evidence, history: Map<string, ToldTransfer>): string[] {
  return evidence.stored.transfers.flatMap((row) => {
    const real = history.get(`${eventOf(row)} ${row.blockHash}`);
    if (real !== undefined && FIELDS.every((field) => row[field] === real[field])) return [];
    return [`stored, but no block ever held it: ${tellStory(evidence, row)}`];
  });
}

function judgeMessages(evidence: Evidence, history: Map<string, ToldTransfer>): string[] {
  const { received } = evidence;
  const broken: string[] = [];
  for (const copies of Map.groupBy(received, ({ messageId }) => messageId).values()) {
    if (new Set(copies.map(({ body }) => body)).size > 1)
      broken.push(`one message id, several contents: ${copies.map(({ body }) => body).join(' / ')}`);
  }
  const byEvent = Map.groupBy(received, ({ message }) => eventOf(transferOf(message)));
  const stored = Map.groupBy(evidence.stored.transfers, eventOf);
  for (const event of new Set([...byEvent.keys(), ...stored.keys()])) {
    const what = judgeEvent(byEvent.get(event) ?? [], stored.get(event) ?? []);
    if (what !== null) broken.push(`${what}: ${tellStory(evidence, parseEvent(event))}`);
  }
  for (const { message } of received) {
    const what = judgeMessage(evidence, message, history);
    if (what !== null) broken.push(`${what}: ${JSON.stringify(message)}: ${tellStory(evidence, transferOf(message))}`);
  }
  return broken;
}

const nextPhases = { seen: ['confirmed', 'retracted'], confirmed: ['retracted'], retracted: ['seen'] };

/** All messages about one event: each version once, in a valid order, ending with the table's state. */
function judgeEvent(received: readonly ReceivedMessage[], rows: readonly StoredTransfer[]): string | null {
  const messages = [...new Map(received.map((one) => [one.messageId, one.message])).values()];
  messages.sort((a, b) => a.version - b.version);
  if (messages.some(({ version }, position) => version !== position + 1))
    return 'versions with a gap, or one version twice';
  const latest = rows.toSorted((a, b) => a.version - b.version).at(-1);
  const last = messages.at(-1);
  if (latest === undefined || last === undefined) return 'only stored, or only published';
  const isSame =
    last.version === latest.version && last.phase === latest.phase && last.block_hash.slice(2) === latest.blockHash;
  if (!isSame) return 'what was said last is not what the table says';
  const readings = [
    ...rows.map(({ firstSeenAt, live }) => `${firstSeenAt.toISOString()} ${live}`),
    ...messages.map(({ first_seen_at: seenAt, live }) => `${seenAt} ${live}`),
  ];
  if (new Set(readings).size > 1) return `not one first reading: ${readings.join(', ')}`;
  const strange = messages.some(({ phase }, position) => {
    const before = messages[position - 1];
    return before === undefined ? phase !== 'seen' : !nextPhases[before.phase].includes(phase);
  });
  return strange ? 'an order of phases that makes no sense' : null;
}

/** One message, compared with everything that ever was in the chain. */
function judgeMessage(evidence: Evidence, message: Observed, history: Map<string, ToldTransfer>): string | null {
  const told = transferOf(message);
  const real = history.get(`${eventOf(told)} ${told.blockHash}`);
  const block = evidence.chronicle.find(message.block_hash);
  if (real === undefined || block === undefined) return 'said, but no block ever held it';
  if (FIELDS.some((field) => told[field] !== real[field])) return 'said otherwise than it was';
  if (message.phase === 'confirmed') {
    if (message.confirmations < message.confirmations_required) return 'confirmed with too few confirmations';
    const had = block.tallest - told.blockNumber + 1;
    if (had < evidence.confirmationsFor(told.units))
      return `confirmed, but its block never had more than ${had} confirmations`;
  }
  if (message.phase === 'retracted' && !block.everOrphaned && !wasContradicted(evidence.chronicle, told.blockNumber))
    return 'retracted, but nothing ever spoke against its block';
  return null;
}

/** Whether a node that lags could have shown a fork that goes at least this high: its answer is as good as any other's. */
function wasContradicted(chronicle: ChainHistory, height: number): boolean {
  return [...chronicle.all()].some(
    ({ block, everOrphaned, tallest }) => everOrphaned && Number(block.number) <= height && tallest >= height,
  );
}

/**
 * A confirmed transfer that is taken back needs somebody to look at it. A chain that kept its word must not stop a network, and a reading that
 * could have known better must not need an audit.
 */
function judgeIncidents({ received, stored, hides }: Evidence): string[] {
  const broken: string[] = [];
  const told = stored.incidents.map(({ detail }) => detail).join('\n');
  for (const messages of Map.groupBy(received, ({ message }) => eventOf(transferOf(message))).values()) {
    const wasConfirmed = new Set(
      messages.filter(({ message }) => message.phase === 'confirmed').map(({ message }) => message.version),
    );
    const takenBack = messages.find(
      ({ message }) => message.phase === 'retracted' && wasConfirmed.has(message.version - 1),
    );
    if (takenBack !== undefined && !told.includes(takenBack.message.transaction_id))
      broken.push(`a confirmed transfer was taken back without an incident: ${takenBack.body}`);
  }
  for (const { kind, detail } of stored.incidents) {
    if (kind === 'fork_below_finalized')
      broken.push(`halted, but the chain never forked below its final block: ${detail}`);
    if (!hides && ['transfer_missed', 'transfer_unseen_by_audit'].includes(kind))
      broken.push(`only the audit found it, though no endpoint could have hidden it: ${kind}: ${detail}`);
  }
  return broken;
}

function transferOf(message: Observed): ToldTransfer {
  return {
    ...{ transaction: message.transaction_id, position: message.transaction_event_index },
    ...{ blockNumber: message.block_number, blockHash: message.block_hash.slice(2) },
    timestamp: Date.parse(message.block_timestamp) / 1000,
    ...{ from: message.from.toLowerCase(), to: message.to.toLowerCase(), units: message.amount_units },
  };
}

function parseEvent(event: string): Pick<ToldTransfer, 'transaction' | 'position'> {
  const [transaction = '', position] = event.split(' ');
  return { transaction, position: Number(position) };
}

/** Everything known about an event: where it is now, where it ever was, the stored row and the messages. */
function tellStory(evidence: Evidence, event: Pick<ToldTransfer, 'transaction' | 'position'>): string {
  const isIt = (other: Pick<ToldTransfer, 'transaction' | 'position'>): boolean => eventOf(other) === eventOf(event);
  const now = evidence.told.find(isIt);
  const ever = [...evidence.chronicle.all()]
    .filter(({ receipts }) => receipts.some(({ transactionHash }) => transactionHash.slice(2) === event.transaction))
    .map(({ block, isOrphaned, tallest }) => ({ number: Number(block.number), hash: block.hash, isOrphaned, tallest }));
  const rows = evidence.stored.transfers.filter(isIt);
  const messages = evidence.received
    .filter((one) => isIt(transferOf(one.message)))
    .map(
      (one) =>
        `${one.message.version} ${one.message.phase} in ${one.message.block_number} ${one.message.block_hash.slice(0, 10)}`,
    );
  const to = now?.to ?? rows[0]?.to;
  const spans = evidence.spans.filter(({ wallet }) => wallet === to).map(({ from, until }) => `${from}–${until}`);
  return [
    eventOf(event),
    `  in the chain now: ${JSON.stringify(now ?? null)}`,
    `  was in blocks: ${JSON.stringify(ever)}`,
    `  stored: ${JSON.stringify(rows)}`,
    `  published: ${messages.join(', ') || 'nothing'}`,
    `  its wallet is watched in: ${spans.join(', ') || 'never'}`,
  ].join('\n');
}
