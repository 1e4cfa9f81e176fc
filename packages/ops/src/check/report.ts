import type { Violation } from '@quittance/contracts/http/check.ts';

/** Examples that are shown of what breaks a rule. */
const EXAMPLES = 10;

export type BrokenRule = { rule: string; count: number; examples: string[] };

export type CheckReport = {
  /** Payments created, and transfers in blocks, from then on. Counters are looked at whole. */
  since: string;
  looked_at: { payments: number; events: number; transfers: number; merchants: number };
  broken: BrokenRule[];
};

/** Collects what is found; it stays small, however much is. */
export function createReport(since: string) {
  const looked: CheckReport['looked_at'] = { payments: 0, events: 0, transfers: 0, merchants: 0 };
  const broken = new Map<string, BrokenRule>();
  return {
    looked(what: keyof CheckReport['looked_at'], count: number): void {
      looked[what] += count;
    },
    found(violations: readonly Violation[]): void {
      for (const { rule, what } of violations) {
        const known = broken.get(rule) ?? { rule, count: 0, examples: [] };
        known.count += 1;
        if (known.examples.length < EXAMPLES) known.examples.push(what);
        broken.set(rule, known);
      }
    },
    result: (): CheckReport => ({ since, looked_at: looked, broken: [...broken.values()] }),
  };
}
