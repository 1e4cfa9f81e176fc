/** What is planned to happen, each thing at its moment. */
export type Agenda = {
  /** @param moment milliseconds since 1970. */
  plan(moment: number, act: (moment: number) => Promise<void> | void): void;
  /** Does everything that is planned, and what that plans, in the order of time; things of one moment in the order of planning. */
  work(): Promise<void>;
};

/** A day has some ten thousand of them; more means that something plans itself for ever. */
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
