import { canonical, type Step } from './steps.ts';
import { copyOf, type Model, snapshotOf, type Snapshot } from './state.ts';

/** A call that ran together with others, and how it ended. */
export type Ended = {
  program: Step;
  answer: unknown;
  /** Its answer was that nothing could be decided, so it may have stopped after any of its steps. */
  gaveUp: boolean;
};

/** The maximum number of orders to try; generated groups have far fewer. */
const MAX_STEPS = 60_000;

export type Explanation =
  /** `stopped` calls gave up before their end. */
  { model: Model; stopped: number } | { unexplained: true } | { tooMany: true };

/**
 * Looks for an order of the calls' steps that explains every answer and leaves the database in its current state. There must be one: calls
 * may race, but the outcome must be possible one by one.
 */
export function explain(model: Model, calls: readonly Ended[], snapshot: Snapshot): Explanation {
  const wanted = canonical(snapshot);
  const wantedAnswers = calls.map(({ answer }) => canonical(answer));
  let steps = 0;

  function search(current: Model, programs: readonly (Step | null)[], stopped: number | null): Explanation | null {
    if (programs.every((program) => program === null)) {
      return canonical(snapshotOf(current)) === wanted ? { model: current, stopped: stopped ?? 0 } : null;
    }
    for (const [position, program] of programs.entries()) {
      if (program === null) continue;
      steps += 1;
      if (steps > MAX_STEPS) return { tooMany: true };
      const changed = copyOf(current);
      const next = program(changed);
      const fits = 'next' in next || canonical(next.answer) === wantedAnswers[position];
      const found = fits ? search(changed, programs.with(position, 'next' in next ? next.next : null), stopped) : null;
      if (found !== null) return found;
      if (stopped === null || !calls[position]!.gaveUp) continue;
      const without = search(current, programs.with(position, null), stopped + 1);
      if (without !== null) return without;
    }
    return null;
  }

  const programs = calls.map(({ program }) => program);
  // A call that gave up may still have reached its answer by the rules; this is tried first.
  return search(model, programs, null) ?? search(model, programs, 0) ?? { unexplained: true };
}
