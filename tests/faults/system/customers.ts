import { setTimeout as delay } from 'node:timers/promises';
import { AMOUNT_DECIMALS, formatUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';

type Situation = {
  /** The amount to pay, as decimal text. */
  amount: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** Sends these amounts in one transaction. @returns its hash, or null if it ended up in no block. */
  send(...amounts: string[]): Promise<string | null>;
  cancel(): Promise<unknown>;
  accept(hash: string): Promise<unknown>;
};

/** How long after the end of a payment its late customer pays. */
const LATE_MS = [200, 9_000] as const;

/** The course of an order: what its customer pays, and what the shop does. */
export type Customer = (situation: Situation) => Promise<unknown>;

export function customerOf(chance: Chance): Customer {
  const pauseMs = chance.between(0, 6_000);
  const [before, after] = [chance.between(-1_500, 1_500), chance.between(1_000, 5_000)];
  const lateMs = chance.between(...LATE_MS);
  const customers: [weight: number, customer: Customer][] = [
    [40, ({ amount, send }) => send(amount)],
    [6, ({ amount, send }) => send(amount, amount)],
    [
      6,
      async ({ amount, send }) => {
        await send(amount);
        await send(amount);
      },
    ],
    [
      8,
      async ({ amount, send, accept }) => {
        const hash = await send(percent(amount, 95n));
        if (hash === null) return;
        await delay(after);
        await accept(hash);
      },
    ],
    [4, ({ amount, send }) => send(percent(amount, 105n))],
    [8, ({ cancel }) => cancel()],
    // A race that either may win.
    [8, ({ amount, send, cancel }) => Promise.all([send(amount), cancel()])],
    [
      4,
      async ({ amount, send, cancel }) => {
        await cancel();
        await send(amount);
      },
    ],
    // Too late: the next payment of the amount may exist by then.
    [
      6,
      async ({ amount, send, cancel }) => {
        await cancel();
        await delay(lateMs);
        await send(amount);
      },
    ],
    [
      6,
      async ({ amount, expiresAt, send }) => {
        await delay(Math.max(0, expiresAt - Date.now() + lateMs));
        await send(amount);
      },
    ],
    // Around the end, a little before or after.
    [
      8,
      async ({ amount, expiresAt, send }) => {
        await delay(Math.max(0, expiresAt - Date.now() + before));
        await send(amount);
      },
    ],
    [8, () => Promise.resolve()],
  ];
  const chosen = chance.weighted(customers);
  return async (situation) => {
    await delay(pauseMs);
    await chosen(situation);
  };
}

/** What customers send to an address of their own, in percent of the amount, and how often that is. */
const partings: [weight: number, percents: bigint[]][] = [
  [30, [100n]],
  [25, [60n, 40n]],
  [15, [30n, 30n, 40n]],
  [10, [50n, 42n]],
  [8, [70n]],
  [8, [80n, 45n]],
  [8, [100n, 100n]],
  [6, []],
];

/** The course of an order with an address of its own: its customer pays in parts, the last one maybe too late, and the shop may accept that. */
export function partsCustomerOf(chance: Chance): Customer {
  const percents = chance.weighted(partings);
  const pausesMs = percents.map(() => chance.between(0, 5_000));
  const isTogether = chance.happens(0.15);
  // When the last part comes, counted from the end; null for as soon as it can.
  const lastMs = chance.happens(0.25) ? chance.between(-1_500, LATE_MS[1]) : null;
  const [isCancelled, isAccepted] = [chance.happens(0.15), chance.happens(0.5)];
  const after = chance.between(1_000, 5_000);
  return async ({ amount, expiresAt, send, cancel, accept }) => {
    const amounts = percents.map((share) => percent(amount, share));
    const sendings = isTogether && amounts.length > 0 ? [amounts] : amounts.map((one) => [one]);
    let last: string | null = null;
    for (const [position, sending] of sendings.entries()) {
      await delay(pausesMs[position]);
      const isLast = position === sendings.length - 1;
      if (isLast && isCancelled) await cancel();
      if (isLast && lastMs !== null) await delay(Math.max(0, expiresAt - Date.now() + lastMs));
      last = (await send(...sending)) ?? last;
    }
    if (last === null || !isAccepted) return;
    await delay(after);
    await accept(last);
  };
}

function percent(amount: string, hundredths: bigint): string {
  return formatUnits((parseAmount(amount)! * hundredths) / 100n, AMOUNT_DECIMALS);
}
