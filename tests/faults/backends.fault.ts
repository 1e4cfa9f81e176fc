import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@quittance/local-backends/ports.ts';
import { startPostgres } from '@quittance/local-backends/postgres.ts';
import { addressOf } from '@quittance/postgres/roles/service-databases.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import {
  type Campaign,
  type CampaignReport,
  createWhileSessionsEnd,
} from '../../services/payments/test/creation-kills.ts';
import { type PaymentsUnderTest, startPayments } from '../../services/payments/test/service.ts';
import { seededRandom } from '../conformance/support/hostile/random.ts';
import { withDatabase } from '../support/database.ts';
import type { Fault } from './fault.ts';

const CAMPAIGN: Campaign = { merchants: 40, creations: 30, clients: 3 };
/** One run with killed sessions only, and one in which the server is killed as well. */
const USUAL_RUNS = 2;

export const fault: Fault = {
  name: 'backends',
  about:
    'creations while database sessions, and once the whole server, are killed: exactly the allowed number is created, counted, published and replayed byte for byte',
  async run({ seed, runs, say, onEnd }) {
    const server = await ownServer(onEnd);
    const payments = await paymentsOn(server.url);
    onEnd(() => payments.close());
    const source = seededRandom(seed);
    const random = (): number => source.below(2 ** 31) / 2 ** 31;
    const broken: string[] = [];
    const lines: string[] = [];
    for (let run = 1; run <= (runs ?? USUAL_RUNS); run += 1) {
      const killsServer = run % 2 === 0;
      await withinOneDay(async () => {
        const before = await messagesTaken(server.url);
        const report = await createWhileSessionsEnd(payments, CAMPAIGN, {
          random,
          messagesHandled: async () => (await messagesTaken(server.url)) - before,
          ...(killsServer && { meanwhile: () => server.crash(say) }),
        });
        broken.push(...report.violations, ...emptiness(report));
        lines.push(describe(report, killsServer));
      });
    }
    return { broken, lines };
  },
};

/** A separate server, because the run's cannot be killed, and loses the last commits when it dies. */
async function ownServer(onEnd: (close: () => Promise<void>) => void) {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-faults-'));
  onEnd(() => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  const start = async () =>
    startPostgres({ directory: join(directory, 'postgres'), port, logFile: join(directory, 'postgres.log') });
  const port = await freePort();
  let server = await start();
  onEnd(() => server.kill());
  return {
    url: server.url,
    /** Kills it as a power cut would, and starts it again on the same data. */
    async crash(say: (line: string) => void): Promise<void> {
      await server.kill();
      say('  the server was killed');
      server = await start();
      say('  and has recovered');
    },
  };
}

/** Two replicas of the service with everything that they need, on this server. */
async function paymentsOn(serverUrl: string): Promise<PaymentsUnderTest> {
  const { TEST_POSTGRES_URL: shared } = process.env;
  process.env['TEST_POSTGRES_URL'] = serverUrl;
  try {
    return await startPayments({ replicas: 2 });
  } finally {
    process.env['TEST_POSTGRES_URL'] = shared;
  }
}

/**
 * How many PaymentCreated messages have taken effect at their consumer, counted in its inbox. Its database dies with the server, so its
 * process cannot know whether an interrupted commit happened.
 */
async function messagesTaken(serverUrl: string): Promise<number> {
  const name = await withDatabase(serverUrl, async (db) => {
    const { rows } = await db.query<{ datname: string }>(
      `select datname from pg_database where datname like 'test\\_neighbours\\_%'`,
    );
    if (rows.length !== 1) throw new Error(`there are ${rows.length} databases of neighbours`);
    return rows[0]!.datname;
  });
  return withDatabase(addressOf(serverUrl, { database: name }), async (db) => {
    const { rows } = await db.query<{ taken: number }>(
      `select count(*)::int as taken from neighbours.inbox where handler = 'payment-created'`,
    );
    return rows[0]!.taken;
  });
}

/** A run in which no fault had an effect proves nothing. */
const emptiness = ({ terminated, unavailable, refused }: CampaignReport): string[] =>
  Object.entries({
    'session was ended': terminated,
    'request was answered 503': unavailable,
    'creation was refused': refused,
  })
    .filter(([, count]) => count === 0)
    .map(([what]) => `no ${what}`);

const describe = (report: CampaignReport, killsServer: boolean): string =>
  `${report.created} created, ${report.refused} refused, ${report.unavailable} requests answered 503, ${report.terminated} sessions ended, ` +
  `${report.cancelled} statements cancelled${killsServer ? ', the server killed once' : ''}`;
