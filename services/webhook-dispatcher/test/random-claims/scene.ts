import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@quittance/contracts/ids.ts';
import { shareOf } from '../faults/visits.ts';
import type { NewKey } from '../../src/endpoints/endpoint.sql.ts';
import type { StoreWorld } from '../store-world.ts';

/** What happened, and how often. Deadlocks and lock timeouts are those that the store's functions did not resolve themselves. */
export type Counts = Record<(typeof happenings)[number], number>;

const happenings = [
  'claims',
  'claimed',
  'crashes',
  'successes',
  'failures',
  'late',
  'repeated',
  'released',
  'opened',
  'inserted',
  'noticed',
  'held',
  'moved',
  'rotated',
  'retried',
  'givenUp',
  'open',
  'recovering',
  'putOff',
  'superseded',
  'waiting',
  'looks',
  'deadlocks',
  'lockTimeouts',
] as const;

/** What all participants of a run share. */
export type Scene = {
  world: StoreWorld;
  seed: number;
  /** The last two have no endpoint at the start. */
  merchants: readonly string[];
  /** The share of a merchant's attempts that its receiver accepts. */
  successShareOf(merchantId: string): number;
  counts: Counts;
  /** Violations, each with its first evidence. */
  broken: Map<string, string>;
  /** When a key's replacement was committed, in milliseconds of performance.now(). */
  replacedAt: Map<string, number>;
  isOver: boolean;
};

export const hosts = ['one.io', 'two.io', 'three.io', 'far.io'] as const;
/** Has a pause in almost every claim, so that its lanes are put off. */
export const FAR_HOST = 'far.io';

const SUCCESS_SHARES = [0.95, 0.95, 0.2, 0];
const MERCHANTS = 16;
const WITHOUT_ENDPOINT = 2;

export async function openScene(world: StoreWorld, seed: number): Promise<Scene> {
  const merchants: string[] = [];
  // All combinations of hosts and receivers' success rates.
  for (let n = 0; n < MERCHANTS; n += 1) merchants.push(await world.addMerchant(hosts[(n >> 2) % hosts.length]));
  for (let n = 0; n < WITHOUT_ENDPOINT; n += 1) merchants.push(newId('mer'));
  const shares = new Map(merchants.map((merchantId, n) => [merchantId, SUCCESS_SHARES[n % SUCCESS_SHARES.length]!]));
  return {
    world,
    seed,
    merchants,
    successShareOf: (merchantId) => shares.get(merchantId) ?? 1,
    counts: Object.fromEntries(happenings.map((what) => [what, 0])) as Counts,
    broken: new Map(),
    replacedAt: new Map(),
    isOver: false,
  };
}

/** Random choices that the seed repeats. */
export type Chance = {
  /** A whole number from 0 up to, but not including, `end`. */
  below(end: number): number;
  /** True with this probability, 0 to 1. */
  happens(share: number): boolean;
  pick<T>(values: readonly T[]): T;
};

/** @param name of the participant, so that its choices do not depend on the others. */
export function chanceOf({ seed }: Scene, name: string): Chance {
  let choices = 0;
  const next = (): number => shareOf(seed, name, (choices += 1));
  const below = (end: number): number => Math.floor(next() * end);
  return { below, happens: (share) => next() < share, pick: (values) => values[below(values.length)]! };
}

/** Repeats something, with pauses of up to `pauseMs`, until the run ends. */
export async function repeat(
  scene: Scene,
  name: string,
  pauseMs: number,
  step: (chance: Chance) => Promise<unknown>,
): Promise<void> {
  const chance = chanceOf(scene, name);
  while (!scene.isOver) {
    await tolerate(scene, name, () => step(chance));
    await delay(chance.below(pauseMs));
  }
}

/** Runs something that may fail only because of a lock conflict. */
export async function tolerate(scene: Scene, name: string, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    countError(scene, name, error);
  }
}

/** @param shown the evidence, which may differ each time. */
export function note({ broken }: Scene, what: string, shown = ''): void {
  if (!broken.has(what)) broken.set(what, shown);
}

export function countError(scene: Scene, name: string, error: unknown): void {
  const { counts } = scene;
  const { code, message } = error as { code?: string; message?: string };
  if (code === '40P01') counts.deadlocks += 1;
  // Waiting for connections of transactions that wait for locks is waiting for these locks too.
  else if (code === '55P03' || code === '57014' || message === 'timeout exceeded when trying to connect')
    counts.lockTimeouts += 1;
  else note(scene, `${name} failed with ${code ?? 'no code'}`, message);
}

export function newKey({ world }: Scene): NewKey {
  const keyId = newId('whk');
  return { keyId, ...world.vault.seal(keyId, 'whsec_x') };
}
