import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { testDatabase, testPool } from '@quittance/testkit/database.ts';
import { networks } from '@quittance/testkit/sample-networks.ts';
import { processEnvironment, startServiceProcess } from '@quittance/testkit/service-process.ts';
import * as paymentsDatabase from '../../../services/payments/src/migrations.ts';
import * as webhooksDatabase from '../../../services/webhook-dispatcher/src/migrations.ts';

const INTERNAL_TOKEN = 'a token that only the tests of the archive use';
const NOWHERE = 'http://127.0.0.1:1';
const MERCHANT = `mer_${'a'.repeat(32)}`;

/** Where the command is killed: before its nth call is carried out, or after that, before it learns the answer. */
export type Kill = { call: number; when: 'before' | 'after' };
export type ArchiveWorld = Awaited<ReturnType<typeof startArchiveWorld>>;

/** payments and webhook-dispatcher as processes of their own, and between them and the command a proxy that can have it killed. */
export async function startArchiveWorld() {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-archive-'));
  const networksFile = join(directory, 'networks.json');
  await writeFile(networksFile, JSON.stringify(networks));
  const [payments, webhooks] = await Promise.all([testDatabase(paymentsDatabase), testDatabase(webhooksDatabase)]);
  // RabbitMQ is not needed: nothing happens here but reading and removing.
  const common = { INTERNAL_TOKEN, NETWORKS_FILE: networksFile, AMQP_URL: 'amqp://127.0.0.1:1' };
  const peers = { QUOTA_URL: NOWHERE, WEBHOOK_DISPATCHER_URL: NOWHERE, CHAIN_WATCHER_URL: NOWHERE };
  const mainOf = (service: string) => new URL(`../../../services/${service}/src/main.ts`, import.meta.url);
  const [paymentsProcess, webhooksProcess] = await Promise.all([
    startServiceProcess(mainOf('payments'), {
      ...{ ...common, ...peers, DATABASE_URL: payments.url, PUBLIC_BASE_URL: 'https://pay.example' },
    }),
    startServiceProcess(mainOf('webhook-dispatcher'), {
      ...{ ...common, DATABASE_URL: webhooks.url, WEBHOOK_ENCRYPTION_KEY: randomBytes(32).toString('base64') },
    }),
  ]);
  const db = testPool({ url: payments.url, schema: 'payments', max: 2 });
  const webhooksDb = testPool({ url: webhooks.url, schema: 'webhooks', max: 2 });

  let kill: (Kill & { victim: (answer: () => void) => void }) | null = null;
  let calls = 0;
  const toPayments = await startProxy(paymentsProcess.url, onCall);
  const toWebhooks = await startProxy(webhooksProcess.url, onCall);
  async function onCall(carryOut: () => Promise<void>, answer: () => void): Promise<void> {
    calls += 1;
    const hit = kill?.call === calls ? kill : null;
    if (hit?.when !== 'before') await carryOut();
    if (hit === null) answer();
    else hit.victim(answer);
  }

  const env = { INTERNAL_TOKEN, PAYMENTS_URL: toPayments.url, WEBHOOK_DISPATCHER_URL: toWebhooks.url, USER: 'olga' };
  const start = (words: string[]) => {
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
    const child = spawn(process.execPath, [main, ...words], {
      env: { ...processEnvironment(), ...env },
      stdio: 'ignore',
    });
    const ended = new Promise<string | null>((resolve) => child.once('close', (_code, signal) => resolve(signal)));
    return { child, ended };
  };
  return {
    env,
    db,
    webhooksDb,
    newFolder: () => mkdtemp(join(directory, 'files-')),
    /** Payments that ended five months ago, a third each PAID, EXPIRED and CANCELLED. @returns their ids. */
    async fill(count: number): Promise<string[]> {
      await db.query(
        'truncate payment, transfer, transfer_acceptance, payment_cancellation, incident, archived_day, archive_removal',
      );
      await webhooksDb.query('truncate event, delivery');
      const { rows } = await db.query<{ payment_id: string; status: string }>(fillPayments, [count, MERCHANT]);
      await db.query(fillTransfers);
      const paid = rows.filter(({ status }) => status === 'PAID').map(({ payment_id: id }) => id);
      await webhooksDb.query(fillEvents, [paid, MERCHANT]);
      return rows.map(({ payment_id: id }) => id).sort();
    },
    /** Runs the command, and something else between its first call and the answer to that. */
    async runAround(words: string[], meanwhile: () => Promise<unknown>): Promise<void> {
      const { ended } = start(words);
      calls = 0;
      kill = {
        ...{ call: 1, when: 'after' },
        victim: (answer) => {
          kill = null;
          void meanwhile().then(answer);
        },
      };
      await ended;
    },
    /** Runs the command until it is killed. @returns the signal that ended it. */
    async runUntilKilled(words: string[], at: Kill): Promise<string | null> {
      const { child, ended } = start(words);
      calls = 0;
      kill = { ...at, victim: () => void child.kill('SIGKILL') };
      const signal = await ended;
      kill = null;
      return signal;
    },
    async close() {
      await Promise.all([toPayments.close(), toWebhooks.close()]);
      await Promise.all([paymentsProcess.stop(), webhooksProcess.stop()]);
      await Promise.all([db.end(), webhooksDb.end()]);
      await Promise.all([payments.drop(), webhooks.drop()]);
      await rm(directory, { recursive: true });
    },
  };
}

type OnCall = (carryOut: () => Promise<void>, answer: () => void) => Promise<void>;

async function startProxy(target: string, onCall: OnCall) {
  const server = createServer((incoming, outgoing) => void forward(target, incoming, outgoing, onCall));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function forward(target: string, incoming: IncomingMessage, outgoing: ServerResponse, onCall: OnCall) {
  const body = await buffer(incoming);
  let answered: { response: IncomingMessage; body: Buffer } | null = null;
  const carryOut = async () => {
    const { method, headers, url } = incoming;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${target}${url}`, { method, headers }, resolve).once('error', reject).end(body);
    });
    answered = { response, body: await buffer(response) };
  };
  await onCall(carryOut, () => {
    outgoing.writeHead(answered!.response.statusCode ?? 502, answered!.response.headers).end(answered!.body);
  });
}

const fillPayments = `
  insert into payment (payment_id, merchant_id, public_token, token_sha256, status, network, recipient, amount, amount_units, description,
                       created_at, expires_at, paid_at, cancelled_at, expiry_check_at)
  select 'pay_' || replace(uuidv7(at - clock_timestamp())::text, '-', ''), $2, 'token ' || n, sha256(n::text::bytea), status, 'local',
         '0xa', n::text, n * 1000000::bigint, 'Order ' || n, at, at + interval '30 minutes',
         case when status = 'PAID' then at + interval '6 minutes' end, case when status = 'CANCELLED' then at + interval '2 minutes' end, at
    from (select n, date_trunc('milliseconds', now() - interval '150 days' + n * interval '1 minute') as at,
                 (array['PAID', 'EXPIRED', 'CANCELLED'])[1 + n % 3] as status
            from generate_series(1, $1::integer) n) numbered
  returning payment_id, status`;

const fillTransfers = `
  insert into transfer (network, transaction_id, transaction_event_index, version, phase, merchant_id, block_number, block_hash,
                        block_timestamp, sender, recipient, amount_units, decimals, confirmations, confirmations_required, payment_id, observed_at)
  select network, md5(payment_id) || md5(payment_id), 3, 2, 'confirmed', merchant_id, 1, '0x', created_at, '0xb', recipient, amount_units,
         6, 2, 2, payment_id, paid_at
    from payment where status = 'PAID'`;

const fillEvents = `
  with stored as (
    insert into event (event_id, payment_id, merchant_id, body)
    select 'evt_' || substr(payment_id, 5), payment_id, $2, convert_to('{"payment_id":"' || payment_id || '"}', 'UTF8') from unnest($1::text[]) payment_id
    returning event_id, merchant_id)
  insert into delivery (event_id, merchant_id, status, attempts, delivered_at) select event_id, merchant_id, 'delivered', 1, now() from stored`;
