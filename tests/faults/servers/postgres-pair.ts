import { execFile } from 'node:child_process';
import { appendFile, copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@quittance/local-backends/ports.ts';
import { startPostgres, type Postgres } from '@quittance/local-backends/postgres.ts';
import { withClient } from '@quittance/postgres/roles/service-databases.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { faultProxy, type FaultProxy } from '@quittance/testkit/fault-proxy.ts';
import { copyFiles, giveTo, promoted } from './postgres-copy.ts';
import { smallDisk, type SmallDisk } from './small-disk.ts';

/**
 * A primary with a synchronous standby: a commit is confirmed once both have it. Clients use one address, which always reaches the current
 * primary.
 */
export type PostgresPair = {
  /** The superuser's URL. */
  url: string;
  /** Kills the primary, without a failover; `start` brings it back. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Kills the standby, without which no commit is confirmed. */
  killStandby(): Promise<void>;
  startStandby(): Promise<void>;
  /** Kills or freezes the primary, and promotes the standby, which then runs alone. */
  failOver(how: 'killed' | 'frozen'): Promise<FailedOver>;
  /** Fills the primary's disk; null if this machine does not allow mounting a small one. */
  fillDisk: (() => Promise<void>) | null;
  /** How often either of them has reported a full disk so far. */
  complaints(): Promise<number>;
  /** Frees space again, and starts the primary if it could not continue. */
  freeDisk(): Promise<void>;
};

export type FailedOver = {
  /** The superuser's URL of the former primary. */
  formerUrl: string;
  /** Resumes it, if it was frozen. */
  thaw(): void;
  /** Stops it, and makes it the standby of the current primary, with a new copy of its data. */
  rebuild(): Promise<void>;
};

type Member = {
  options: { directory: string; port: number; logFile: string };
  disk: SmallDisk | null;
  server: Postgres;
};

/** Enough for the data and the WAL of an hour's run. */
const DISK_MEGABYTES = 2_048;
/** The application name of the standby that a primary waits for. */
const STANDBY = 'standby';

export async function startPostgresPair(
  directory: string,
  onEnd: (close: () => Promise<void>) => void,
): Promise<PostgresPair> {
  let primary = await prepareMember(directory, 'postgres-a', onEnd);
  await begin(primary);
  let standby = await prepareMember(directory, 'postgres-b', onEnd);
  await follow(standby, primary);
  const proxy = await faultProxy({ target: primary.server.url });
  onEnd(() => proxy.close());
  return {
    url: proxy.url,
    kill: () => primary.server.kill(),
    start: () => begin(primary),
    killStandby: () => standby.server.kill(),
    startStandby: () => begin(standby),
    async failOver(how) {
      const former = primary;
      const thaw = await takeOver({ former, next: standby, how, proxy });
      [primary, standby] = [standby, former];
      return {
        formerUrl: former.server.url,
        thaw,
        async rebuild() {
          await former.server.kill();
          thaw();
          await follow(former, primary);
        },
      };
    },
    fillDisk: primary.disk === null || standby.disk === null ? null : () => primary.disk!.fill(),
    async complaints() {
      const logs = await Promise.all([primary, standby].map(({ options }) => readFile(options.logFile, 'utf8')));
      return logs.join('').split('No space left on device').length - 1;
    },
    async freeDisk() {
      await primary.disk?.free();
      // It recovers by itself, unless even recovery ran out of space.
      let hasEnded = false;
      void primary.server.exited.then(() => (hasEnded = true));
      await eventually(
        async () => {
          if (hasEnded) await begin(primary);
          hasEnded = false;
          await withClient(primary.server.url, (db) => db.query('select 1'));
        },
        { intervalMs: 100 },
      );
    },
  };
}

async function prepareMember(
  directory: string,
  name: string,
  onEnd: (close: () => Promise<void>) => void,
): Promise<Member> {
  const options = { directory: join(directory, name), port: await freePort(), logFile: join(directory, `${name}.log`) };
  const disk = await smallDisk(options.directory, DISK_MEGABYTES, onEnd);
  let server: Postgres | null = null;
  onEnd(async () => server?.kill());
  return {
    ...{ options, disk },
    get server() {
      if (server === null) throw new Error(`${name} was never started`);
      return server;
    },
    set server(started) {
      server = started;
    },
  };
}

async function begin(member: Member): Promise<void> {
  member.server = await startPostgres(member.options);
}

/** Makes it the standby of this primary with a copy of its data, and makes the primary wait for it from now on. */
async function follow(member: Member, primary: Member): Promise<void> {
  const [from, to] = [primary, member].map(({ options }) => join(options.directory, 'data')) as [string, string];
  await rm(to, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  const password = join(member.options.directory, 'superuser-password');
  await copyFile(join(primary.options.directory, 'superuser-password'), password);
  const { url } = primary.server;
  // The rest is streamed: a restart of either loses nothing of it.
  await settle(url, `alter system set wal_keep_size = '256MB'`);
  await copyFiles(url, from, to);
  const { username: user, password: secret, port } = new URL(url);
  const address = `host=127.0.0.1 port=${port} user=${user} password=${secret} application_name=${STANDBY}`;
  await appendFile(join(to, 'postgresql.auto.conf'), `primary_conninfo = '${address}'\n`);
  await writeFile(join(to, 'standby.signal'), '');
  await giveTo(from, to);
  await begin(member);
  await settle(url, `alter system set synchronous_standby_names = '${STANDBY}'`);
  await untilSynchronous(url);
}

/** From here on the standby has everything that was ever confirmed. */
async function untilSynchronous(url: string): Promise<void> {
  await eventually(
    () =>
      withClient(url, async (db) => {
        const { rowCount } = await db.query(
          `select from pg_stat_replication where state = 'streaming' and sync_state = 'sync'`,
        );
        if (rowCount !== 1) throw new Error('the standby does not keep up with the primary yet');
      }),
    { intervalMs: 100 },
  );
}

type TakingOver = { former: Member; next: Member; how: 'killed' | 'frozen'; proxy: FaultProxy };

/** @returns a function that resumes the former primary; it does nothing for a killed one. */
async function takeOver({ former, next, how, proxy }: TakingOver): Promise<() => void> {
  let thaw = (): void => undefined;
  if (how === 'killed') await former.server.kill();
  else thaw = await freeze(former.server.pid);
  proxy.cut();
  await withClient(next.server.url, (db) => db.query('select pg_promote()'));
  await promoted(next.server.url);
  // It runs alone now. Waiting for the other one would last until its new copy.
  await settle(next.server.url, 'alter system reset synchronous_standby_names');
  proxy.lead(next.server.url);
  proxy.restore();
  return thaw;
}

async function settle(url: string, statement: string): Promise<void> {
  await withClient(url, async (db) => {
    await db.query(statement);
    await db.query('select pg_reload_conf()');
  });
}

/** Freezes the server and all of its sessions, each of which is a process group leader. @returns a function that resumes them. */
async function freeze(pid: number): Promise<() => void> {
  process.kill(pid, 'SIGSTOP');
  // The server is frozen, so it starts no more sessions.
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const children = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number])
    .flatMap(([child, parent]) => (parent === pid ? [child] : []));
  const signal = (name: NodeJS.Signals, pids: readonly number[]): void => {
    for (const one of pids) {
      try {
        process.kill(one, name);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  };
  signal('SIGSTOP', children);
  return () => signal('SIGCONT', [...children, pid]);
}
