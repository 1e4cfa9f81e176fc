import type { TransferObserved } from '@quittance/contracts/messages.ts';

export const MINUTE_MS = 60_000;

/** The same numbers for the same seed, from 0 up to but excluding 1. */
export function randomFrom(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, pick: <T>(list: readonly T[]): T => list[below(list.length)]! };
}

type Random = ReturnType<typeof randomFrom>;
/** `digits`: base units that distinguish it from others of the same price. */
export type PlannedPayment = {
  wallet: number;
  units: number;
  digits?: number;
  createdAt: number;
  status: 'PENDING' | 'EXPIRED' | 'CANCELLED';
};
export type PlannedMessage = {
  transfer: number;
  version: number;
  wallet: number;
  units: string;
  phase: TransferObserved['phase'];
  blockTime: number;
  /** When it was first read, on a network that is read without a gap; absent when that is not known. */
  seenAt?: number;
};
export type Plan = { payments: PlannedPayment[]; messages: PlannedMessage[] };

/**
 * Slots with a closed payment and a newer one, and transfers that pay, are late, come twice, fit nothing, may be for several payments, or
 * are reorganised. The chain's clock is up to two minutes behind, or ahead.
 */
export function planOf(random: Random): Plan {
  const now = Math.floor(Date.now() / 1000) * 1000;
  const status = random.pick(['EXPIRED', 'CANCELLED'] as const);
  // Long before the newer payment, and a minute before it: 30 minutes after its creation one expires, after 20 it was cancelled.
  const closed = [120, status === 'EXPIRED' ? 41 : 31].map((minutes) => ({
    status,
    createdAt: now - minutes * MINUTE_MS,
  }));
  const payments = [0, 1, 2].flatMap((wallet) =>
    [1, 2, 3].flatMap((units): PlannedPayment[] => [
      { wallet, units, ...random.pick(closed) },
      ...(random.below(4) > 0
        ? [{ wallet, units, createdAt: now - 10 * MINUTE_MS, status: 'PENDING' } satisfies PlannedPayment]
        : []),
      ...[1, 2]
        .filter(() => random.below(2) > 0)
        .map((digits): PlannedPayment => ({
          wallet,
          units,
          digits,
          createdAt: now - 10 * MINUTE_MS,
          status: 'PENDING',
        })),
    ]),
  );
  const sent: PlannedMessage[] = [];
  for (let transfer = 0; transfer < 30; transfer += 1) {
    const blockTime = now - random.pick([130, 119, 95, 60, 11.5, 11, 10.5, 10, 9, 5, 1]) * MINUTE_MS;
    const lag = random.pick([null, 1_000, 40_000, 100_000, -70_000]);
    sent.push({
      transfer,
      version: 1,
      wallet: random.below(3),
      units: String(random.pick([1_000_000, 1_000_001, 1_000_002, 2_000_000, 3_000_000, 1, 1_500_000])),
      phase: random.pick(['seen', 'confirmed']),
      blockTime,
      ...(lag !== null && { seenAt: blockTime + lag }),
    });
  }
  for (let change = 0; change < 20; change += 1) {
    const known = random.pick(sent);
    const latest = sent.filter(({ transfer }) => transfer === known.transfer).at(-1)!;
    const version = latest.version + 1;
    const phase = random.pick(['confirmed', 'confirmed', 'retracted', 'seen'] as const);
    sent.push({ ...latest, version, phase, wallet: random.below(6) === 0 ? random.below(3) : latest.wallet });
  }
  return { payments, messages: sent };
}

/** Cuts messages into batches. `mustCut` may require a cut before a message, given the batch so far. */
export function chunksOf(
  random: Random,
  sent: readonly PlannedMessage[],
  mustCut: (batch: readonly PlannedMessage[], next: PlannedMessage) => boolean,
): PlannedMessage[][] {
  const chunks: PlannedMessage[][] = [[]];
  for (const message of sent) {
    if (random.below(8) === 0 || mustCut(chunks.at(-1)!, message)) chunks.push([]);
    chunks.at(-1)!.push(message);
  }
  return chunks.filter(({ length }) => length > 0);
}
