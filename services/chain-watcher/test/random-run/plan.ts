import { chanceOf, type Chance } from './chance.ts';
import { planWeather, type WeatherStep } from './plan-faults.ts';

/** All random choices of a run. The same seed makes the same plan, but the machine decides how far each process is at each step. */
export type Plan = {
  seed: number;
  durationMs: number;
  wallets: number;
  senders: number;
  /** Wallets that are announced before anything else happens. */
  early: number[];
  chain: ChainStep[];
  replicas: ReplicaStep[];
  weather: WeatherStep[];
  messages: MessageStep[];
};

/** `at`: milliseconds since the start. A step that is late is carried out immediately. */
export type ChainStep = { at: number } & (
  | { kind: 'blocks'; blocks: PlannedTransaction[][] }
  /** Replaces the newest `depth` blocks. `choice` decides what happens to each of their transactions. */
  | { kind: 'reorg'; depth: number; choice: number; then: { depth: number; choice: number } | null }
);

export type PlannedTransaction =
  | { kind: 'transfer'; sender: number; token: 'usdt' | 'lookalike'; to: number; units: number }
  | { kind: 'batch'; sender: number; transfers: { to: number; units: number }[] }
  /** Is mined and fails. */
  | { kind: 'refused'; sender: number; to: number }
  | { kind: 'fee'; basisPoints: number };

export type ReplicaStep = { at: number } & (
  | { kind: 'kill' | 'terminate'; who: 'leader' | 'any'; restartAfterMs: number }
  | { kind: 'pause'; who: 'leader' | 'any'; forMs: number }
);

export type MessageStep = { at: number; wallet: number } & (
  | {
      kind: 'created';
      /** The payment was created this long before its message is sent, so late messages overtake each other. */
      createdMsAgo: number;
      /** Its watch ends this long after the message; null for long after the run. */
      endsAfterMs: number | null;
    }
  /** One of the earlier messages is sent again. */
  | { kind: 'again'; choice: number }
  /** Closes the wallet's latest payment. */
  | { kind: 'closed' }
);

export const ENDPOINTS = 3;
export const REPLICAS = 3;
/** The deepest reorg. The chain calls only much deeper blocks final. */
export const MAX_REORG = 8;
const SENDERS = 24;
const OFF = { kind: 'fee', basisPoints: 0 } as const;

export function makePlan(seed: number, durationMs: number, { hides }: { hides: boolean }): Plan {
  const chance = chanceOf(seed);
  const minutes = durationMs / 60_000;
  const wallets = Math.min(400, Math.max(80, Math.round(60 * minutes)));
  const everyone = Array.from({ length: wallets }, (_, wallet) => wallet);
  return {
    ...{ seed, durationMs, wallets, senders: SENDERS },
    early: everyone.filter((wallet) => wallet % 3 === 0 && !isShortLived(wallet)),
    chain: planChain(chance.apart('chain'), durationMs, wallets),
    replicas: planReplicas(chance.apart('replicas'), durationMs),
    weather: planWeather(chance.apart('weather'), { durationMs, endpoints: ENDPOINTS, hides }),
    messages: planMessages(chance.apart('messages'), durationMs, wallets),
  };
}

function planChain(chance: Chance, durationMs: number, wallets: number): ChainStep[] {
  const steps: ChainStep[] = [];
  let feeUntil: number | null = null;
  for (let at = 500; at < durationMs; at += chance.between(60, 560)) {
    if (chance.happens(0.11)) {
      const again = chance.happens(0.3) ? planReorg(chance) : null;
      steps.push({ at, kind: 'reorg', ...planReorg(chance), then: again });
      continue;
    }
    // A chain that was busy while no endpoint was up: too far back for reading block by block.
    const count = chance.weighted([
      [95, 1],
      [3, chance.between(2, 6)],
      [2, chance.between(36, 60)],
    ]);
    const blocks = Array.from({ length: count }, () => planBlock(chance, wallets));
    if (feeUntil === null && chance.happens(0.03)) {
      feeUntil = at + chance.between(3_000, 9_000);
      blocks[0]!.push({ kind: 'fee', basisPoints: chance.between(1, 20) * 10 });
    } else if (feeUntil !== null && at > feeUntil) {
      feeUntil = null;
      blocks[0]!.push(OFF);
    }
    steps.push({ at, kind: 'blocks', blocks });
  }
  return steps;
}

const planReorg = (chance: Chance) => ({
  depth: chance.weighted([
    [4, chance.between(1, 3)],
    [3, chance.between(4, MAX_REORG)],
  ]),
  choice: chance.below(2 ** 31),
});

function planBlock(chance: Chance, wallets: number): PlannedTransaction[] {
  const to = () => chance.below(wallets);
  const units = () => chance.between(1, 100_000_000);
  const count = chance.weighted([
    [3, 0],
    [4, 1],
    [2, 2],
    [1, chance.between(3, 6)],
  ]);
  return Array.from({ length: count }, (): PlannedTransaction => {
    const sender = chance.below(SENDERS);
    const kind = chance.weighted([
      [60, 'transfer'],
      [18, 'batch'],
      [8, 'lookalike'],
      [8, 'zero'],
      [6, 'refused'],
    ] as const);
    if (kind === 'batch') return { kind, sender, transfers: planBatch(chance, to, units) };
    if (kind === 'refused') return { kind, sender, to: to() };
    const token = kind === 'lookalike' ? 'lookalike' : 'usdt';
    return { kind: 'transfer', sender, token, to: to(), units: kind === 'zero' ? 0 : units() };
  });
}

/** To different wallets, several times to the same one, and sometimes with a zero amount. */
function planBatch(chance: Chance, to: () => number, units: () => number) {
  const often = to();
  return Array.from({ length: chance.between(2, 6) }, () => ({
    to: chance.happens(0.35) ? often : to(),
    units: chance.happens(0.15) ? 0 : units(),
  }));
}

/** At least one kill and one pause. A pause is longer than a leader's lease of 15 s. In a long run, two are much longer. */
function planReplicas(chance: Chance, durationMs: number): ReplicaStep[] {
  const steps: ReplicaStep[] = [];
  let longPauses = durationMs >= 300_000 ? 2 : 0;
  for (let at = chance.between(3_000, 5_000); at < durationMs; at += chance.between(4_000, 14_000)) {
    const isPause = steps.length === 1 || (steps.length > 1 && chance.happens(0.15));
    if (isPause) {
      const isLong = longPauses > 0 && at > durationMs / 4;
      if (isLong) longPauses -= 1;
      steps.push({ at, kind: 'pause', who: 'leader', forMs: isLong ? 60_000 : chance.between(16_000, 20_000) });
    } else {
      const kind = steps.length === 0 || chance.happens(0.7) ? 'kill' : 'terminate';
      const who = chance.happens(0.75) ? 'leader' : 'any';
      steps.push({ at, kind, who, restartAfterMs: chance.between(0, 3_000) });
    }
  }
  return steps;
}

function planMessages(chance: Chance, durationMs: number, wallets: number): MessageStep[] {
  const steps: MessageStep[] = [];
  for (let at = 1_000; at < durationMs; at += chance.between(100, 1_500)) {
    // The last tenth of the wallets is never watched.
    const wallet = chance.below(Math.floor(wallets * 0.9));
    const kind = chance.weighted([
      [70, 'created'],
      [15, 'again'],
      [15, 'closed'],
    ] as const);
    if (kind === 'again') steps.push({ at, wallet, kind, choice: chance.below(2 ** 31) });
    else if (isShortLived(wallet)) steps.push({ at, wallet, kind: 'created', ...planShortLife(chance) });
    else if (kind === 'closed') steps.push({ at, wallet, kind });
    else steps.push({ at, wallet, kind, createdMsAgo: planDelay(chance), endsAfterMs: null });
  }
  return steps;
}

const isShortLived = (wallet: number): boolean => wallet % 7 === 5;

/** Created before the chain's first block, and soon no longer watched. */
const planShortLife = (chance: Chance) => ({ createdMsAgo: 3_700_000, endsAfterMs: chance.between(3_000, 25_000) });

const planDelay = (chance: Chance): number =>
  chance.weighted([
    [5, chance.below(300)],
    [3, chance.between(1_000, 14_000)],
    [2, chance.between(15_000, 60_000)],
  ]);
