import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '@quittance/postgres/roles/service-databases.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';
import type { FailedOver } from '../servers/postgres-pair.ts';
import type { ClusterNode } from '../servers/rabbitmq-cluster.ts';
import type { World } from '../system/world.ts';

export type Step = {
  name: string;
  /** Causes the fault and heals it. @returns what went wrong. */
  run(world: World): Promise<string[]>;
};

/** The queue whose leader fails. Every creation uses it. */
const QUEUE = 'quota.payment-created';
/** Longer than the others need to notice. A frozen node is noticed after up to 75 s (net_ticktime). */
const AWAY_MS = 20_000;
const FROZEN_MS = 90_000;

export const steps: readonly Step[] = [
  leaderAway('leader killed', AWAY_MS, {
    begin: (leader) => leader.kill(),
    end: (leader) => leader.start(),
  }),
  leaderAway('leader frozen', FROZEN_MS, {
    begin: (leader) => leader.freeze(),
    end: (leader) => leader.thaw(),
  }),
  leaderAway('leader parted', AWAY_MS, {
    begin: (leader) => leader.isolate(),
    end: (leader) => leader.join(),
  }),
  failover('primary killed', 'killed', async ({ rebuild }) => {
    await rebuild();
    return [];
  }),
  failover('primary frozen', 'frozen', outdated),
  {
    name: 'standby killed',
    async run({ postgres }) {
      await postgres.killStandby();
      await delay(AWAY_MS / 4);
      await postgres.startStandby();
      return [];
    },
  },
];

type Away = Record<'begin' | 'end', (leader: ClusterNode) => void | Promise<void>>;

function leaderAway(name: string, forMs: number, { begin, end }: Away): Step {
  return {
    name,
    async run({ rabbitmq }) {
      const leader = await rabbitmq.leaderOf(QUEUE);
      await begin(leader);
      await delay(forMs);
      await end(leader);
      await rabbitmq.untilWhole(QUEUE);
      const next = await rabbitmq.leaderOf(QUEUE);
      return next === leader ? [`node ${leader.number} led before and after it, so nothing was tested`] : [];
    },
  };
}

function failover(name: string, how: 'killed' | 'frozen', after: (failedOver: FailedOver) => Promise<string[]>): Step {
  return { name, run: async ({ postgres }) => after(await postgres.failOver(how)) };
}

/** The former primary wakes up and still acts as one. It must not confirm any commit. */
async function outdated({ formerUrl, thaw, rebuild }: FailedOver): Promise<string[]> {
  thaw();
  const told = withDatabase(formerUrl, (db) => db.query('create table never_answered ()')).then(
    () => ['the former primary confirmed a commit that its standby does not have'],
    () => [],
  );
  await eventually(
    () =>
      withClient(formerUrl, async (db) => {
        const { rowCount } = await db.query(
          `select from pg_stat_activity where wait_event = 'SyncRep' and query like 'create table never%'`,
        );
        if (rowCount !== 1) throw new Error('the former primary does not wait for its standby');
      }),
    { intervalMs: 100 },
  );
  await rebuild();
  return told;
}
