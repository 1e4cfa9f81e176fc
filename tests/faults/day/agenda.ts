/** Planned actions, each at its time. */
export type Agenda = {
  /** @param moment milliseconds since 1970. */
  plan(moment: number, act: (moment: number) => Promise<void> | void): void;
  /** Runs all planned actions, including those planned meanwhile, in order of time; actions of one moment in order of planning. */
  work(): Promise<void>;
};

/** A day has about ten thousand actions. More means that an action plans itself forever. */
const ACTS_MAX = 500_000;

export function newAgenda(): Agenda {
  const planned: { moment: number; act: (moment: number) => Promise<void> | void }[] = [];
  return {
    plan(moment, act) {
      const after = planned.findLastIndex((other) => other.moment <= moment);
      planned.splice(after + 1, 0, { moment, act });
    },
    async work() {
      for (let done = 0; done < ACTS_MAX; done += 1) {
        const next = planned.shift();
        if (next === undefined) return;
        await next.act(next.moment);
      }
      throw new Error('the day does not end');
    },
  };
}
