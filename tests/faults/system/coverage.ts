import { withDatabase } from '../../support/database.ts';
import type { Faults } from './faults.ts';
import type { World } from './world.ts';

/** Which states of payments and events each fault occurred in. */
export type Coverage = {
  note(fault: string): Promise<void>;
  lines(): string[];
};

const states = ['PENDING', 'CHECKING', 'PAID, not yet told', 'event waits'] as const;

const statesNow = `
  select 'PENDING' as state from payments.payment where status = 'PENDING'
  union select 'CHECKING' from payments.payment where status = 'CHECKING'
  union select 'PAID, not yet told' from payments.payment p
    where status = 'PAID' and not exists (select from webhooks.event e where e.payment_id = p.payment_id)
  union select 'event waits' from webhooks.delivery where status = 'pending'`;

export function coverageOf({ stack }: World, { names, impossible }: Pick<Faults, 'names' | 'impossible'>): Coverage {
  const met = new Map<string, { times: number; states: Set<string>; unseen: number }>();
  return {
    async note(fault) {
      const entry = met.get(fault) ?? { times: 0, states: new Set<string>(), unseen: 0 };
      met.set(fault, entry);
      entry.times += 1;
      try {
        const { rows } = await withDatabase(stack.file.postgres_url, (db) => db.query<{ state: string }>(statesNow));
        for (const { state } of rows) entry.states.add(state);
      } catch {
        // PostgreSQL itself is down.
        entry.unseen += 1;
      }
    },
    lines: () => [
      'Faults, how often, and the states they occurred in:',
      ...[...met].sort().map(([fault, { times, states: seen, unseen }]) => {
        const never = states.filter((state) => !seen.has(state));
        const missing = never.length === 0 ? '' : `; never ${never.join(', ')}`;
        return `  ${String(times).padStart(8)}  ${fault}${missing}${unseen === 0 ? '' : `; ${unseen} times unseen`}`;
      }),
      `Never run: ${names.filter((name) => !met.has(name)).join(', ') || 'none'}.`,
      ...impossible.map((what) => `Not possible here: ${what}.`),
    ],
  };
}
