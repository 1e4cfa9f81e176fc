import type { Chance } from './chance.ts';

/** What an endpoint can do wrong. A careful reader detects each of these, or only loses time. */
export const honestFaults = [
  /** Behind by some steps of the chain, including forks, like a node that lags. */
  'behind',
  /** The same, so far that it may not know the final block. */
  'far behind',
  'empty logs',
  'foreign logs',
  'invented log',
  'altered log',
  'null receipts',
  'foreign receipts',
  'null blocks',
  'range error',
  /** Refuses the events of even one block because there are too many. */
  'capped logs',
  /** Refuses all events: without an address, without the method, or with an unknown text. */
  'refused logs',
  /** Has only the latest blocks and events. */
  'pruned history',
  /** Names none, fails, or names an older one than before. */
  'no finalized block',
  'call error',
  'half a batch',
  'half a body',
  'dropped',
  'stalled',
  'slow',
  'HTTP 429',
  'HTML',
  'HTTP 200 with an error',
] as const;

/** Faults that cannot be detected at this endpoint alone, and that only another one repairs. */
export const hidingFaults = ['hidden log', 'redirected log', 'hidden block', 'failed receipts'] as const;

export type FaultKind = (typeof honestFaults)[number] | (typeof hidingFaults)[number];

/** Wrong answers that look right. The reader has to detect them, so they are more frequent than obvious failures. */
const lies: readonly FaultKind[] = [
  ...(['empty logs', 'foreign logs', 'invented log', 'altered log', 'null receipts', 'foreign receipts'] as const),
  ...hidingFaults,
];

/** What a provider does all the time, not just for a moment. So these last as long as wrong answers. */
const habits: readonly FaultKind[] = [
  'range error',
  'capped logs',
  'refused logs',
  'pruned history',
  'no finalized block',
];

/** One endpoint does one thing wrong, in a share of its answers, for a while. */
export type WeatherStep = {
  at: number;
  endpoint: number;
  fault: FaultKind;
  forMs: number;
  share: number;
  /** For endpoints that lag: by this many steps of the chain. */
  steps: number;
};

/** Failures of a whole provider, for outages of all at once. */
const outages: readonly FaultKind[] = ['dropped', 'HTTP 429', 'HTML', 'stalled'];

export function planWeather(
  chance: Chance,
  { durationMs, endpoints, hides }: { durationMs: number; endpoints: number; hides: boolean },
): WeatherStep[] {
  const steps: WeatherStep[] = [];
  for (let endpoint = 0; endpoint < endpoints; endpoint += 1) {
    // The last endpoint may hide transfers, and the others repair that.
    const kinds = hides && endpoint === endpoints - 1 ? [...honestFaults, ...hidingFaults] : honestFaults;
    steps.push(...planEndpoint(chance.apart(`endpoint ${endpoint}`), { durationMs, endpoint, kinds }));
  }
  const everywhere = (at: number, forMs: number, fault: FaultKind) =>
    Array.from({ length: endpoints }, (_, endpoint) => ({ at, endpoint, fault, forMs, share: 1, steps: 1 }));
  for (let at = chance.between(8_000, 14_000); at < durationMs - 8_000; at += chance.between(25_000, 60_000)) {
    steps.push(...everywhere(at, chance.between(2_000, 6_000), chance.pick(outages)));
  }
  const longest = Math.min(60_000, durationMs / 8);
  steps.push(...everywhere(Math.round(durationMs * 0.55), Math.round(longest), 'dropped'));
  return steps.sort((a, b) => a.at - b.at);
}

/** Each kind in turn, wrong answers three times, in a different order at each endpoint, with pauses in between. */
function planEndpoint(
  chance: Chance,
  { durationMs, endpoint, kinds }: { durationMs: number; endpoint: number; kinds: readonly FaultKind[] },
): WeatherStep[] {
  const steps: WeatherStep[] = [];
  let left: FaultKind[] = [];
  for (let at = chance.between(500, 2_000); at < durationMs; at += chance.between(800, 4_000)) {
    if (left.length === 0) left = kinds.flatMap((kind) => (lies.includes(kind) ? [kind, kind, kind] : [kind]));
    const [fault] = left.splice(chance.below(left.length), 1) as [FaultKind];
    const share = chance.pick([0.2, 0.5, 1]);
    const forMs =
      lies.includes(fault) || habits.includes(fault) ? chance.between(1_500, 5_000) : chance.between(300, 2_000);
    steps.push({
      at,
      endpoint,
      fault,
      forMs,
      share,
      steps: fault === 'far behind' ? chance.between(7, 35) : chance.between(1, 6),
    });
  }
  return steps;
}
