import { setTimeout as delay } from 'node:timers/promises';
import type { BadEndpoint } from './bad-endpoint.ts';
import { countsOf, describe, missing } from './account.ts';
import { judge, required, type Evidence } from './judge.ts';
import { makePlan, type Plan } from './plan.ts';
import type { WeatherStep } from './plan-faults.ts';
import { replay } from './replay.ts';
import { readStored } from './stored.ts';
import { CONFIRMATIONS, FINAL_DEPTH, confirmationsFor, openWorld, type RandomWorld } from './world.ts';

export type RandomRun = {
  seed: number;
  durationMs: number;
  /** Whether an endpoint also gives false answers that only a comparison with another one reveals. */
  hides: boolean;
  /** Whether blocks come faster than looks, so that several are read at once. */
  isFast: boolean;
  /** Whether blocks are proven by their hashes. */
  isProven: boolean;
  say: (line: string) => void;
  onEnd: (close: () => Promise<void>) => void;
};

export type RandomRunResult = {
  /** Broken guarantees, each with the evidence. */
  broken: string[];
  /** What should have happened in a run of this length, but did not. */
  missing: string[];
  /** What happened, and how often. */
  lines: string[];
};

/** Longer than anything can still be in progress: a dead relay's messages wait 30 s for another one. */
const SETTLING_MS = 120_000;
const LISTEN_EVERY_MS = 1_000;
/** When nothing is in progress and the broken guarantees have not changed for this long, they stay broken. */
const HOPELESS_MS = 20_000;
/** Most broken guarantees to report. They usually have one cause. */
const MAX_TOLD = 15;

/**
 * Runs the service's processes against a chain, a broker and endpoints on which everything happens that a plan of this seed says, lets it all
 * settle, and compares what the service stored and said with what the chain really holds.
 */
export async function randomRun({
  seed,
  durationMs,
  hides,
  isFast,
  isProven,
  say,
  onEnd,
}: RandomRun): Promise<RandomRunResult> {
  const plan = makePlan(seed, durationMs, { hides });
  const world = await openWorld(plan, { isFast, isProven, onEnd });
  const { chain, chronicle, announcer, ear, pool } = world;
  const listening = setInterval(() => void ear.drain().catch(() => undefined), LISTEN_EVERY_MS);
  try {
    await act(world, plan, say);
    await calmDown(world);
    const gather = async (): Promise<Evidence> => ({
      told: await replay(chain.rpcUrl, chain.token),
      stored: await readStored(pool),
      ...{ received: ear.received, chronicle, token: chain.token, spans: announcer.spans, confirmationsFor, hides },
    });
    say('  settling');
    const broken = await verdict(world, gather);
    const evidence = await gather();
    broken.push(...judgeTerms(world, evidence));
    const counts = countsOf(world, evidence, required(evidence));
    return {
      broken: [...world.keeper.deaths, ...broken.slice(0, MAX_TOLD), ...andMore(broken.length - MAX_TOLD)],
      missing: missing(counts, durationMs, isFast),
      lines: describe(counts),
    };
  } finally {
    clearInterval(listening);
  }
}

const andMore = (count: number): string[] => (count > 0 ? [`and ${count} more`] : []);

/** Carries out the plan: related steps in their order, everything else in parallel. */
async function act({ maker, keeper, announcer, endpoints }: RandomWorld, plan: Plan, say: (line: string) => void) {
  for (const wallet of plan.early)
    await announcer.carryOut({ at: 0, wallet, kind: 'created', createdMsAgo: 0, endsAfterMs: null });
  const startedAt = performance.now();
  const follow = async <T extends { at: number }>(steps: readonly T[], carryOut: (step: T) => unknown) => {
    for (const step of steps) {
      await delay(Math.max(0, startedAt + step.at - performance.now()));
      await carryOut(step);
    }
  };
  const minutes = Array.from({ length: Math.floor(plan.durationMs / 60_000) }, (_, minute) => ({
    at: (minute + 1) * 60_000,
  }));
  await Promise.all([
    follow(plan.chain, (step) => maker.carryOut(step)),
    follow(plan.replicas, (step) => keeper.carryOut(step)),
    follow(plan.messages, (step) => announcer.carryOut(step)),
    follow(plan.weather, (step) => trouble(endpoints[step.endpoint]!, step)),
    follow(minutes, ({ at }) => say(`  ${at / 60_000} min: ${maker.counts.blocks} blocks`)),
  ]);
}

function trouble(endpoint: BadEndpoint, { fault, share, steps, forMs }: WeatherStep): void {
  const present = { fault, share, steps };
  endpoint.begin(present);
  setTimeout(() => endpoint.end(present), forMs);
}

/** Ends all faults, brings every replica back, and grows the chain until its last transfer is final. */
async function calmDown({ maker, keeper, endpoints }: RandomWorld): Promise<void> {
  for (const endpoint of endpoints) endpoint.calm();
  await keeper.allBack();
  await maker.carryOut({ at: 0, kind: 'blocks', blocks: [[{ kind: 'fee', basisPoints: 0 }]] });
  await maker.mine(FINAL_DEPTH + CONFIRMATIONS);
}

/** What is still broken when nothing changes any more, or at the deadline. */
async function verdict({ chronicle, ear }: RandomWorld, gather: () => Promise<Evidence>): Promise<string[]> {
  const end = performance.now() + SETTLING_MS;
  let last = '';
  let sameSince = performance.now();
  for (;;) {
    while ((await ear.drain()) > 0);
    const evidence = await gather();
    const underWay = unfinished(evidence, chronicle.head().hash);
    const broken = [...underWay, ...judge(evidence)];
    if (broken.length === 0 || performance.now() > end) return broken;
    const isStuck = underWay.length === 0 || evidence.stored.cursor?.halted === true;
    if (!isStuck || broken.join('\n') !== last) sameSince = performance.now();
    if (performance.now() - sameSince > HOPELESS_MS) return broken;
    last = broken.join('\n');
    await delay(500);
  }
}

/** A leader gives up only when its process or connection ends, not because of a node's answer: each time, everything is read again. */
function judgeTerms({ keeper: { counts } }: RandomWorld, { stored }: Evidence): string[] {
  const terms = stored.cursor?.epoch ?? 0;
  // A leader that was frozen may take the lead back once.
  const explained = 1 + counts.kill + counts.terminate + 2 * counts.pause;
  return terms > explained ? [`leaders changed ${terms} times, of which ${explained} can be explained`] : [];
}

/** What has to end before the result can be judged. */
function unfinished({ stored: { cursor, outbox, watches } }: Evidence, head: string): string[] {
  const waiting = watches.filter(({ state }) => state !== 'watching' && state !== 'ended');
  return [
    ...(cursor?.halted === true ? ['the network was halted'] : []),
    ...(cursor?.hash === head ? [] : [`the scan is not at the head: ${JSON.stringify(cursor)}`]),
    ...(cursor?.isAudited === true ? [] : ['not every final block has been read once more']),
    ...(outbox > 0 ? [`${outbox} messages are still in the outbox`] : []),
    ...(waiting.length > 0 ? [`wallets whose past is not read: ${JSON.stringify(waiting)}`] : []),
  ];
}
