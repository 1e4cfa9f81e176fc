import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import type { NewApiKey } from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { SignInLink } from '@quittance/contracts/http/api-gateway/people.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { live } from '../support/careless-life.ts';
import { inDatabase } from '../support/database.ts';
import { fewAtATime } from '../support/http.ts';
import { openMerchant, type Merchant } from '../support/merchant.ts';
import { found, foundInTable, logsIn, note, readQueues, tablesOf, type Needles } from '../support/needles.ts';
import { asOperator } from '../support/operator.ts';
import type { Attack, Check, Target, Trial } from './attack.ts';
import { ask } from './support/ask.ts';
import { addPerson, signIn } from './support/operators.ts';

/** Every secret, by its text, after each was used and put in a wrong place. */
type Canaries = {
  credentials: Needles;
  tokens: Needles;
  refusals: string[];
  merchant: Merchant;
  /** The id of the last request: a log that has it is up to date. */
  lastRequestId: string;
};

/** Where a public token may be in plain text: in the payment, whose URL is shown again, and in its saved reply. */
const tokenPlaces = ['payments.payment: public token', 'payments.idempotent_reply: public token, its text in hex'];

export const attack: Attack = {
  name: 'secrets',
  about:
    'every kind of secret, used and put in wrong places, then searched for in logs, tables, queues, traces, answers and processes',
  async checks(target) {
    const canaries = await use(target.stack);
    return [
      logs(target.stack, canaries),
      ...databases(target.stack, canaries),
      queues(target.stack, canaries),
      traces(target, canaries),
      answers(canaries),
      metrics(target.stack, canaries),
      processes(target.stack, canaries),
      webhooks(target.stack, canaries),
    ];
  },
};

async function use(stack: StackFile): Promise<Canaries> {
  const [credentials, tokens, refusals]: [Needles, Needles, string[]] = [new Map(), new Map(), []];
  const merchant = await openMerchant(stack, { webhook: false });
  await live(stack, merchant, { credentials, tokens, refusals });
  await useAsOperator(stack, merchant, credentials);
  refusals.push(...(await misplace(stack, merchant, credentials)));
  const lastRequestId = `last-of-secrets-${randomUUID().slice(0, 8)}`;
  await ask('GET', `${stack.edge_url}/api/v1/merchant/limits`, { headers: { 'X-Request-ID': lastRequestId } });
  return { credentials, tokens, refusals, merchant, lastRequestId };
}

/** The secrets of operators and services, each used once as intended. */
async function useAsOperator(stack: StackFile, { merchantId }: Merchant, credentials: Needles): Promise<void> {
  const person = await addPerson(stack, 'viewer');
  note(credentials, 'operator credential', person.credential);
  credentials.set(person.token.split('.').at(-1)!, "signature of an operator's token");
  const cookie = await signIn(stack, person.credential);
  note(credentials, 'session of the console', cookie);
  await ask('GET', `${stack.console_url}/`, { headers: { Cookie: cookie } });
  const { link } = await asOperator<SignInLink>(stack, 'POST', `/operators/${person.name}/sign-in-link`, {});
  note(credentials, 'sign-in link', link);
  await ask('GET', `${stack.console_url}/sign-in/link/${link}`);
  const path = `/merchants/${merchantId}/api-keys`;
  note(
    credentials,
    'second API key',
    (await asOperator<NewApiKey>(stack, 'POST', path, { name: 'till', scope: 'all' })).api_key,
  );
  for (const [caller, key] of Object.entries(stack.signing_keys)) credentials.set(key, `signing key of ${caller}`);
  for (const url of [stack.postgres_url, stack.amqp_url]) {
    const { password } = new URL(url);
    if (password.length > 8) credentials.set(decodeURIComponent(password), `password of ${new URL(url).protocol}//`);
  }
}

/** Puts secrets where people and programs put them by mistake. @returns the texts of the errors. */
async function misplace(stack: StackFile, { apiKey }: Merchant, credentials: Needles): Promise<string[]> {
  const secrets = [...credentials.entries()].filter(([, what]) => !what.includes(' in ')).map(([text]) => text);
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const asks = secrets.flatMap((random) => {
    // A needle is the random part. The formatter of the logs recognizes secrets by their prefix.
    const secret = encodeURIComponent(random);
    const internal = (headers: Record<string, string>) => ({ headers });
    return ['qk_', 'qo_', 'ql_', ''].flatMap((prefix) => [
      () =>
        ask('GET', `${stack.edge_url}/api/v1/payments?key=${prefix}${secret}`, { headers: { 'X-API-Key': apiKey } }),
      () => ask('GET', `${stack.edge_url}/api/v1/${prefix}${secret}`),
      () => ask('POST', `${stack.console_url}/sign-in`, { headers: form, body: `credential=${prefix}x${secret}` }),
      () => ask('GET', `${stack.console_url}/payments/${prefix}${secret}`),
      () =>
        ask(
          'GET',
          `${stack.gateway_url}/internal/v1/merchants/${prefix}${secret}`,
          internal({ 'X-Call-Token': `${secret}x` }),
        ),
      () =>
        ask(
          'GET',
          `${stack.services.quota.url}/internal/v1/merchants/${prefix}${secret}/policy`,
          internal({ ...callAs(stack, 'quota'), 'User-Agent': `${prefix}${secret}` }),
        ),
    ]);
  });
  const answers = await fewAtATime(asks);
  return answers.filter(({ status }) => status >= 400).map(({ text, headers }) => `${JSON.stringify(headers)} ${text}`);
}

const all = ({ credentials, tokens }: Canaries): Needles => new Map([...credentials, ...tokens]);

const logs = (stack: StackFile, canaries: Canaries): Check => ({
  name: 'no log of a service, the console, the edge or a backend holds one',
  async run(trial) {
    const directory = resolve(repositoryRoot, stack.logs);
    const files = await eventually(async () => {
      const read = await logsIn(directory);
      if (!read.some(({ text }) => text.includes(canaries.lastRequestId))) throw new Error('the logs are behind');
      return read;
    });
    trial.holds(files.length > 5, () => `there are only ${files.length} logs`);
    for (const { name, text } of files) trial.none(found(text, all(canaries)).map((what) => `${name}: ${what}`));
  },
});

function databases(stack: StackFile, canaries: Canaries): Check[] {
  return [
    {
      name: 'no table holds a credential in plain text, and only payments and their saved replies hold a token',
      async run(trial) {
        const needles = new Map([...all(canaries), [canaries.merchant.merchantId, 'merchant id']]);
        const places: string[] = [];
        const tables = await tablesOf(stack);
        for (const schema of ['gateway', 'payments', 'chain', 'webhooks', 'quota'])
          trial.holds(
            tables.some((table) => table.startsWith(`${schema}.`)),
            () => `no table of ${schema} was searched`,
          );
        for (const table of tables)
          places.push(...(await foundInTable(stack, table, needles)).map((what) => `${table}: ${what}`));
        // The same search must find what is there.
        const ofMerchant = ['gateway.merchant', 'payments.payment', 'webhooks.endpoint'].map(
          (table) => `${table}: merchant id`,
        );
        for (const known of [...ofMerchant, ...tokenPlaces])
          trial.holds(places.includes(known), () => `${known} was not found, so the search is worth nothing`);
        trial.none(places.filter((place) => !place.endsWith(': merchant id') && !tokenPlaces.includes(place)));
      },
    },
    {
      name: 'a dump of every schema holds none, except for the tokens of payments',
      async run(trial) {
        const dump = await dumpOf(stack);
        if (dump === null) {
          trial.skip('there is no pg_dump on this machine that knows this PostgreSQL');
          return;
        }
        trial.holds(dump.includes(canaries.merchant.merchantId), () => 'the merchant is not in the dump');
        trial.none(found(dump, canaries.credentials));
      },
    },
    {
      name: 'the functions, defaults, comments, settings and roles of the database hold none',
      async run(trial) {
        const catalogs = [
          'pg_proc',
          'pg_attrdef',
          'pg_constraint',
          'pg_description',
          'pg_views',
          'pg_db_role_setting',
          'pg_settings',
          'pg_authid',
          'pg_stats',
        ];
        for (const catalog of catalogs)
          trial.none(
            (await foundInTable(stack, `pg_catalog.${catalog}`, canaries.credentials)).map(
              (what) => `${catalog}: ${what}`,
            ),
          );
      },
    },
    {
      name: 'the list of database connections and their queries holds none',
      async run(trial) {
        const rows = await inDatabase<{ line: string }>(
          stack,
          `select a::text as line from pg_stat_activity a where usename like 'quittance%'`,
        );
        trial.holds(rows.length > 4, () => `only ${rows.length} connections are known`);
        trial.none(found(rows.map(({ line }) => line).join('\n'), all(canaries)));
      },
    },
  ];
}

async function dumpOf({ postgres_url: url }: StackFile): Promise<string | null> {
  const words = ['--dbname', url, '--no-owner'];
  return promisify(execFile)('pg_dump', words, { maxBuffer: 1_000_000_000 }).then(
    ({ stdout }) => stdout,
    () => null,
  );
}

const queues = (stack: StackFile, canaries: Canaries): Check => ({
  name: 'no queue holds one, including those of dead letters',
  async run(trial) {
    const seen = await readQueues(stack);
    if (seen === null) {
      trial.skip('the broker of this stack has no management API');
      return;
    }
    trial.holds(
      seen.some(({ name }) => name === 'payments.access-changed'),
      () => 'payments.access-changed is not among the queues',
    );
    const dead = seen.filter(({ name }) => name.includes('dead'));
    trial.holds(dead.length > 0, () => `no queue of dead letters is among ${seen.map(({ name }) => name).join(', ')}`);
    for (const { name, messages } of seen) trial.none(found(messages, all(canaries)).map((what) => `${name}: ${what}`));
  },
});

const traces = ({ traces: exported }: Target, canaries: Canaries): Check => ({
  name: 'no exported trace holds one',
  async run(trial) {
    if (exported === null) {
      trial.skip('traces are only read from a stack started for the attacks');
      return;
    }
    const text = await eventually(() => {
      const joined = exported().join('\n');
      if (!joined.includes('POST webhook')) throw new Error('no attempt at a webhook was exported yet');
      return joined;
    });
    trial.none(found(text, all(canaries)));
  },
});

const answers = ({ refusals, ...canaries }: Canaries): Check => ({
  name: 'no error repeats one that was sent in a wrong place',
  async run(trial) {
    trial.holds(refusals.length > 100, () => `there were only ${refusals.length} errors`);
    for (const text of refusals)
      trial.none(found(text, all({ ...canaries, refusals })).map((what) => `${what} in ${text.slice(0, 200)}`));
  },
});

const metrics = (stack: StackFile, canaries: Canaries): Check => ({
  name: 'no page of metrics holds one',
  async run(trial) {
    const doors = Object.values(stack.services).flatMap(({ replicas }) => replicas.map(({ url }) => url));
    trial.same('the console', (await ask('GET', `${stack.console_url}/metrics`)).status, 404);
    for (const door of doors) {
      const { status, text } = await ask('GET', `${door}/metrics`);
      trial.holds(status === 200 && text.includes('http_'), () => `${door} answered ${status}`);
      trial.none(found(text, all(canaries)).map((what) => `${door}: ${what}`));
    }
  },
});

/** What every user of the machine can see of a process: its title and arguments. */
const processes = (stack: StackFile, canaries: Canaries): Check => ({
  name: 'no process has one in its title or arguments',
  async run(trial) {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,args='], { maxBuffer: 50_000_000 });
    const pids = Object.values(stack.services).flatMap(({ replicas }) => replicas.map(({ pid }) => pid));
    for (const pid of pids) {
      const line = stdout.split('\n').find((text) => text.trim().startsWith(`${pid} `));
      trial.holds(line !== undefined, () => `process ${pid} was not found`);
    }
    trial.none(found(stdout, all(canaries)));
  },
});

const webhooks = (stack: StackFile, canaries: Canaries): Check => ({
  name: "no webhook to a merchant's endpoint holds one",
  async run(trial: Trial) {
    const { text } = await ask('GET', `${stack.receiver.events_url}?host=${canaries.merchant.host}`);
    trial.holds(text.includes(canaries.merchant.host), () => 'no webhook reached the merchant');
    trial.none(found(text, all(canaries)));
  },
});
