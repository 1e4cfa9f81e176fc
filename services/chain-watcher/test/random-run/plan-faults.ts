import type { Chance } from './chance.ts';

/** What an endpoint can do wrong. All of these a careful reader sees through, or loses nothing but time by. */
export const honestFaults = [
  /** Behind by some steps of the chain, forks included, as a replica that is late. */
  'behind',
  /** The same, so far that it may not know what is final by now. */
  'far behind',
  'empty logs',
  'foreign logs',
  'invented log',
  'altered log',
  'null receipts',
  'foreign receipts',
  'null blocks',
  'range error',
  /** Refuses the events of even one block for their number. */
  'capped logs',
  /** Refuses all events: for want of an address, of the method, or in words that nobody knows. */
  'refused logs',
  /** Has no blocks and events but the latest. */
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

/** What nobody can see who asks this endpoint alone: only another one's word repairs it. */
export const hidingFaults = ['hidden log', 'redirected log', 'hidden block', 'failed receipts'] as const;

export type FaultKind = (typeof honestFaults)[number] | (typeof hidingFaults)[number];

/** Wrong answers that look right: the reader has to find out, so these come more often than failures that nobody can overlook. */
const lies: readonly FaultKind[] = [
  ...(['empty logs', 'foreign logs', 'invented log', 'altered log', 'null receipts', 'foreign receipts'] as const),
  ...hidingFaults,
];

/** What a provider does all the time and not for a moment; so these last as long as lies. */
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
  /** For those that are behind: by so many steps of the chain. */
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
    // The last endpoint may hide; the others are what repairs it.
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

/** Each kind in turn, lies three times, in an order of its own at each endpoint, with calm in between. */
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
