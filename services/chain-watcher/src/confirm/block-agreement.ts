import { opinionsOf, type BlockOpinion, type ShownBlock } from '@quittance/chain-reader/chain/verify.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { withTimeout, DeadlineExceeded } from '@quittance/runtime/concurrency/deadline.ts';
import { createPatience } from '../incidents/patience.ts';
import { reportIncident } from '../incidents/report.ts';
import { fencedTransaction, type Position, type Term } from '../leadership/term.ts';
import { publishTransfers, recordTransfers } from '../transfers/publish.ts';
import { confirmAgreed, type AwaitingTransfer } from '../transfers/transfer.sql.ts';

/** New blocks wait in the meantime. */
const DEADLINE_MS = 2_000;
/** How long no other endpoint may have an opinion before the one that showed the block is believed alone. */
const SILENCE_MS = 10_000;
/** A silence that was noticed this long ago, and not since, has probably ended. */
const FORGOTTEN_MS = 60_000;
/** How long endpoints may contradict each other before an incident is raised: at a reorg they do for a moment. */
const PATIENCE_MS = 5_000;

/** A transfer of a block that is proved by its hash. */
export type ProvenTransfer = AwaitingTransfer & { endpoint: number; transaction_index: number };

/** The transfers of one block. Their block was shown by the same endpoint. */
type Waiting = { block: ShownBlock; rows: ProvenTransfer[] };

/** @returns whether a transfer's content follows from its block's hash, so that only the hash needs a second endpoint. */
export const isProvenTransfer = (row: AwaitingTransfer): row is ProvenTransfer =>
  row.endpoint !== null && row.transaction_index !== null;

/**
 * Confirms transfers whose content follows from the hash of their block, once an endpoint other than the one that showed the block has the
 * same block, with the same transactions. Above the network's limit for agreement, it must also call the block final. Up to that limit one
 * endpoint is enough while no other answers, or all are behind. Endpoints that contradict each other confirm nothing, and an incident names
 * them.
 */
export function createBlockAgreement(term: Term, { heights }: Position) {
  const { network } = term;
  /** Of all endpoints but the one that showed a block. */
  const silences = new Map<number, ReturnType<typeof createSilence>>();
  const report = createDisagreementReport(term);

  const isLarge = ({ judged }: ProvenTransfer): boolean =>
    network.agreementAbove !== null && BigInt(judged) > network.agreementAbove;
  const isAgreed = (row: ProvenTransfer, opinions: readonly BlockOpinion[]): boolean =>
    opinions.some((one) => one.kind === 'agrees' && (!isLarge(row) || one.finalFor(BigInt(row.judged))));

  async function confirm(rows: readonly ProvenTransfer[], agreedBy: number): Promise<void> {
    if (rows.length === 0) return;
    const confirmed = await fencedTransaction(term, async (tx) => {
      const changed = await confirmAgreed(tx, network.id, rows, agreedBy);
      await publishTransfers(tx, term, changed, heights().confirmingTip);
      return changed;
    });
    recordTransfers(term, confirmed);
  }

  async function checkShownBy(endpoint: number, blocks: readonly Waiting[]): Promise<number> {
    const asksFinality = blocks.some(({ rows }) => rows.some(isLarge));
    const question = { than: endpoint, hasNamedFinal: heights().hasNamedFinal, asksFinality, isAgreed };
    const opinions = await askOthers(term, blocks, question);
    const hasOpinion = opinions.some((of) => of.some(({ kind }) => kind !== 'behind'));
    const silence = silences.get(endpoint) ?? createSilence();
    silences.set(endpoint, silence);
    silence.heard(hasOpinion);
    const agreed: ProvenTransfer[] = [];
    const alone: ProvenTransfer[] = [];
    for (const [at, waiting] of blocks.entries()) {
      const ofBlock = opinions[at] ?? [];
      await report(waiting, ofBlock);
      for (const row of waiting.rows) {
        if (isAgreed(row, ofBlock)) agreed.push(row);
        else if (silence.isLong() && !isLarge(row)) alone.push(row);
      }
    }
    await confirm(agreed, 2);
    await confirm(alone, 1);
    return blocks.flatMap(({ rows }) => rows).length - agreed.length - alone.length;
  }

  /** @returns how many of these transfers still wait. */
  return async (rows: readonly ProvenTransfer[]): Promise<number> => {
    let left = 0;
    for (const [endpoint, shown] of Map.groupBy(rows, (row) => row.endpoint))
      left += await checkShownBy(endpoint, byBlock(shown));
    return left;
  };
}

type Question = {
  /** The endpoint that is not asked. */
  than: number;
  hasNamedFinal: boolean;
  asksFinality: boolean;
  isAgreed: (row: ProvenTransfer, opinions: readonly BlockOpinion[]) => boolean;
};

/** @returns the opinions of other endpoints, in the order in which they were asked, about each block; none when none answers. */
async function askOthers(
  { network, endpoints, logger }: Term,
  blocks: readonly Waiting[],
  { than, isAgreed, ...asked }: Question,
): Promise<BlockOpinion[][]> {
  const shown = blocks.map(({ block }) => block);
  const about = (readings: readonly BlockOpinion[][]) =>
    shown.map((_, at) => readings.flatMap((reading) => reading[at] ?? []));
  const isEnough = (readings: readonly BlockOpinion[][]) =>
    about(readings).every((opinions, at) => blocks[at]?.rows.every((row) => isAgreed(row, opinions)));
  try {
    const read = endpoints.askUntil((rpc) => opinionsOf(rpc, network, shown, asked), isEnough, than);
    return about(await withTimeout(DEADLINE_MS, read));
  } catch (error) {
    if (!(error instanceof RpcError || error instanceof DeadlineExceeded)) throw error;
    logger.warn({ network: network.id, error: error.message }, 'no other endpoint shows the block of a transfer');
    return shown.map(() => []);
  }
}

/** Raises an incident about a block once endpoints have contradicted each other about it for a while. */
function createDisagreementReport(term: Term) {
  const patience = createPatience(PATIENCE_MS);
  return async ({ block, rows: [row] }: Waiting, opinions: readonly BlockOpinion[]): Promise<void> => {
    const differing = opinions.flatMap((opinion) => (opinion.kind === 'differs' ? [opinion.reason] : []));
    if (differing.length === 0) {
      patience.ended(block.hash);
      return;
    }
    if (!patience.isOver(block.hash) || row === undefined) return;
    const { transaction_id, transaction_event_index, endpoint } = row;
    const place = { transaction_id, transaction_event_index, block_number: block.number, endpoint };
    const incident = { kind: 'endpoints_disagree', detail: { ...place, answers: [block.hash, ...differing] } } as const;
    await fencedTransaction(term, (tx) =>
      reportIncident(tx, term, incident, 'endpoints disagree about the block of a transfer'),
    );
  };
}

/** How long no other endpoint has had an opinion, as far as they were asked. */
function createSilence() {
  /** Monotonic milliseconds. */
  let silent: { since: number; last: number } | null = null;
  return {
    heard(anything: boolean): void {
      const now = performance.now();
      const isOngoing = silent !== null && now - silent.last < FORGOTTEN_MS;
      silent = anything ? null : { since: isOngoing && silent !== null ? silent.since : now, last: now };
    },
    isLong: (): boolean => silent !== null && silent.last - silent.since >= SILENCE_MS,
  };
}

function byBlock(rows: readonly ProvenTransfer[]): Waiting[] {
  return [...Map.groupBy(rows, (row) => row.block_hash)].map(([hash, ofBlock]) => {
    const transactions = new Map(ofBlock.map((row) => [row.transaction_index, `0x${row.transaction_id}`]));
    return { block: { number: Number(ofBlock[0]?.block_number), hash: `0x${hash}`, transactions }, rows: ofBlock };
  });
}
