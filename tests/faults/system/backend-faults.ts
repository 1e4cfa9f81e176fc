import { withClient } from '@quittance/postgres/roles/service-databases.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { FaultKind, Scene } from './fault.ts';

/** All faults of PostgreSQL and RabbitMQ, one at a time. */
export function createBackendFaults({ world: { postgres, rabbitmq }, until }: Scene): FaultKind {
  const [broker] = rabbitmq.nodes as [(typeof rabbitmq.nodes)[number]];
  const acts: Record<string, (awayMs: number) => Promise<unknown>> = {
    'PostgreSQL killed': (ms) => away(postgres.kill, postgres.start, ms),
    'sessions ended': () =>
      withClient(postgres.url, (client) =>
        client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'`,
        ),
      ),
    'standby killed': (ms) => away(postgres.killStandby, postgres.startStandby, ms),
    'failover, primary killed': (ms) => failedOver('killed', ms),
    'failover, primary frozen': (ms) => failedOver('frozen', ms),
    'RabbitMQ killed': (ms) => away(broker.kill, broker.start, ms),
    'RabbitMQ stopped': (ms) => away(broker.current().stopApp, broker.current().startApp, ms),
    'RabbitMQ out of disk': async (ms) => {
      const limit = (size: string) => broker.current().control('set_disk_free_limit', size);
      await away(
        () => limit('900000GB'),
        () => limit('50MB'),
        ms,
      );
    },
    ...(postgres.fillDisk !== null && {
      'PostgreSQL out of disk': (ms: number) => away(postgres.fillDisk!, postgres.freeDisk, ms),
    }),
  };
  const names = Object.keys(acts);

  async function away(begin: () => Promise<unknown>, end: () => Promise<unknown>, ms: number): Promise<void> {
    await begin();
    await until(ms);
    // On a busy machine a command may give up on a server that is still starting.
    await eventually(end, { intervalMs: 1_000 });
  }
  async function failedOver(how: 'killed' | 'frozen', ms: number): Promise<void> {
    const { thaw, rebuild } = await postgres.failOver(how);
    await until(ms);
    thaw();
    await rebuild();
  }
  return {
    names,
    ...(postgres.fillDisk === null && { impossible: ['PostgreSQL out of disk: only root can mount a small one'] }),
    lines: async () => [`PostgreSQL complained ${await postgres.complaints()} times of a full disk.`],
    next(chance) {
      const name = chance.pick(names);
      const awayMs = chance.between(0, 4_000);
      return { name, run: () => acts[name]!(awayMs) };
    },
  };
}
