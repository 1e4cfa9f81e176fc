import type { NetworkTip } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { DeadlineExceeded, withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { TipReader } from '../clients.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { crossCheckedAboveUnits, type Network } from '@quittance/contracts/networks.ts';
import type { WaitingFor } from '@quittance/contracts/api/transaction.ts';
import type { ViewedTransfer, WithTransfer } from './view.sql.ts';

/** How far chain-watcher had scanned at the last answer. */
export type ChainTips = {
  /** By network. A missing one is unknown. */
  tips: ReadonlyMap<string, NetworkTip>;
  /** When it was asked, by performance.now(): the answer includes everything chain-watcher had published until then. */
  askedAt: number;
};

/** Never fails, and hardly waits: when chain-watcher is slow or down, returns its last answer. */
export type ReadTips = () => Promise<ChainTips>;

export const noTips: ChainTips = { tips: new Map(), askedAt: -Infinity };

/** How long one answer serves all requests; a checkout page polls at four times this interval. */
const MAX_AGE_MS = 1_000;
/** Too short for a customer to notice. When chain-watcher becomes slow, only the first request waits this long. */
const MAX_WAIT_MS = 100;

/**
 * Asks chain-watcher when a request needs it and the last question is at least a second old, one question at a time. After a slow answer no
 * request waits, until an answer is prompt again.
 */
export function createChainTips({ reader, logger }: { reader: TipReader; logger: Logger }): ReadTips {
  let known = noTips;
  let lastAskedAt = -Infinity;
  let question: Promise<void> | null = null;
  let isPrompt = true;
  let isFailing = false;

  async function ask(): Promise<void> {
    const askedAt = performance.now();
    lastAskedAt = askedAt;
    try {
      known = { tips: await reader.tips(), askedAt };
      isPrompt = performance.now() - askedAt <= MAX_WAIT_MS;
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        logger.warn({ error }, 'chain-watcher does not answer its tips: confirmations may be shown too low');
      isPrompt = false;
      isFailing = true;
    }
  }

  async function waitFor(answer: Promise<void>): Promise<void> {
    try {
      await withTimeout(MAX_WAIT_MS, answer);
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      isPrompt = false;
    }
  }

  return async () => {
    if (question === null && performance.now() - lastAskedAt >= MAX_AGE_MS)
      question = ask().finally(() => (question = null));
    if (question !== null && isPrompt) await waitFor(question);
    return known;
  };
}

/** What a transfer needs besides its confirmations. */
type ConfirmationDemand = {
  /** The chain must say that its block is final. */
  finality: boolean;
  /** Whether that is because of its amount. */
  isLarge: boolean;
  /** A second endpoint must show it. */
  agreement: boolean;
};

/** What the networks file requires for a transfer of this amount, in millionths of a USDT. chain-watcher uses the same file. */
export type ConfirmationPolicy = (network: string, amountUnits: bigint) => ConfirmationDemand;

export function createConfirmationPolicy(networks: readonly Network[]): ConfirmationPolicy {
  const byId = new Map(networks.map((network) => [network.id, network]));
  return (id, amountUnits) => {
    const network = byId.get(id);
    const isLarge = exceeds(amountUnits, unitsOf(network?.finalized_above_amount));
    return {
      finality: isLarge || network?.finality === 'finalized',
      isLarge,
      agreement: exceeds(amountUnits, network === undefined ? null : crossCheckedAboveUnits(network)),
    };
  };
}

const unitsOf = (amount: string | undefined): bigint | null => (amount === undefined ? null : parseAmount(amount));

const exceeds = (amountUnits: bigint, units: bigint | null): boolean => units !== null && amountUnits > units;

/** The sources for a transfer's progress. */
export type ProgressSources = { readTips: ReadTips; policy: ConfirmationPolicy };

export type WithProgress = { waiting_for: WaitingFor | null };

/**
 * Updates the confirmations of CHECKING payments, and says what they wait for. The ledger has the number from the last message about the
 * transfer, and each block since has added a confirmation. Asks chain-watcher only when the answer may make a difference.
 * @param rows just read from the database.
 */
export async function withProgress<Row extends WithTransfer & { amount_units: bigint }>(
  rows: readonly Row[],
  { readTips, policy }: ProgressSources,
): Promise<readonly (Row & WithProgress)[]> {
  const readAt = performance.now();
  const demandOf = (row: Row) => policy(row.network, row.amount_units);
  const needsTip = (row: Row) => isChecking(row) && (isConfirming(row) || needsMore(demandOf(row)));
  const known = rows.some(needsTip) ? await readTips() : null;
  return rows.map((row) => {
    if (!isChecking(row)) return { ...row, waiting_for: null };
    const current = known === null ? row : { ...row, confirmations: confirmationsBy(known, row, readAt) };
    return { ...current, waiting_for: waitingFor(current, demandOf(row), known?.tips.get(row.network)) };
  });
}

/**
 * The ledger's number is the minimum: a tip behind it would count too few. The required number is the maximum, so that the number never
 * goes back when the transfer is confirmed and the ledger has the chain's own number again.
 * @param readAt when the row was read, by performance.now().
 */
export function confirmationsBy(
  { tips, askedAt }: ChainTips,
  row: Omit<ViewedTransfer, 'transaction_event_index'> & { network: string; read_at: Date },
  readAt: number,
): number {
  const tip = tips.get(row.network);
  // Compares ages, because the two clocks may differ. A tip from before the message may include blocks that a reorg removed.
  const observedAt = readAt - (row.read_at.getTime() - row.observed_at.getTime());
  if (tip === undefined || askedAt < observedAt) return row.confirmations;
  const counted = tip.height - Number(row.block_number) + 1;
  return Math.max(row.confirmations, Math.min(counted, row.confirmations_required));
}

/** @param tip undefined while chain-watcher has not answered: the first requirement is then named. */
function waitingFor(
  transfer: ViewedTransfer,
  { finality, isLarge, agreement }: ConfirmationDemand,
  tip: NetworkTip | undefined,
): WaitingFor | null {
  if (isConfirming(transfer)) return 'confirmations';
  const finalHeight = (isLarge ? tip?.large_final_height : tip?.final_height) ?? -1;
  if (finality && transfer.block_number > finalHeight) return 'finality';
  return agreement ? 'second_endpoint' : null;
}

const needsMore = ({ finality, agreement }: ConfirmationDemand): boolean => finality || agreement;

const isConfirming = (transfer: ViewedTransfer): boolean => transfer.confirmations < transfer.confirmations_required;

const isChecking = <Row extends WithTransfer>(row: Row): row is Row & ViewedTransfer =>
  row.status === 'CHECKING' && row.transaction_id !== null;
