import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { legacyKinds } from '@quittance/contracts/http/trust.ts';
import { schemas, serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { prepareUsers } from '@quittance/local-stack/stack/backends.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { keySettings } from '@quittance/local-stack/stack/service-environment.ts';
import { chanceOf } from '../../../services/chain-watcher/test/random-run/chance.ts';
import { withDatabase } from '../../support/database.ts';
import { send } from '../../support/http.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import { roll, type Rolling } from '../rolling/roll.ts';

type Settings = (service: ServiceName) => Record<string, string>;
type Scene = Rolling & { seed: number; rounds: readonly ('forward' | 'back')[] };

/** Longer than operatorsAtWork() uses a token. */
const TOKEN_MS = 65_000;
/** Longer than a process needs to record what it accepted. */
const WRITTEN_MS = 65_000;

/** Step 2: keys, and a RabbitMQ user for each service, in any order; rolled back, and repeated. */
export async function takeKeys(scene: Scene): Promise<string[]> {
  const { stack, say } = scene;
  const { file } = stack;
  const users = await prepareUsers(file.amqp_url, file.management_url);
  const before: Settings = () => ({ SIGNING_KEY: '', TRUSTED_KEYS: '', AMQP_URL: file.amqp_url });
  const after: Settings = (name) => ({ ...keySettings(file, name), AMQP_URL: users[name] });
  const broken = await rollAll(scene, 'keys and users', before, after);
  const needed = await whatWasNeeded(stack);
  say(`  while processes had no keys: ${needed.join(', ')}`);
  const missing = [...legacyKinds, 'process_without_key'].filter((kind) => !needed.includes(kind));
  return [...broken, ...missing.map((kind) => `${kind} was not tested: there was none`)];
}

/** Step 3: INTERNAL_TOKEN removed in any order, restored, and removed again. Afterwards it must be refused. */
export async function removeToken(scene: Scene): Promise<string[]> {
  const { stack } = scene;
  const token = stack.file.internal_token ?? '';
  const broken = await rollAll(
    scene,
    'without INTERNAL_TOKEN',
    () => ({ INTERNAL_TOKEN: token }),
    () => ({ INTERNAL_TOKEN: '' }),
  );
  for (const { name, url } of stack.services) {
    const { status } = await send('GET', `${url}/internal/v1/nothing`, { headers: { 'X-Internal-Token': token } });
    if (status !== 401) broken.push(`${name} at ${url} still accepts INTERNAL_TOKEN: ${status}`);
  }
  delete stack.file.internal_token;
  return broken;
}

async function rollAll({ rounds, seed, ...scene }: Scene, what: string, before: Settings, after: Settings) {
  const broken: string[] = [];
  for (const [round, way] of rounds.entries()) {
    const chance = chanceOf(`${seed} ${what} ${round}`);
    const order = <T>(all: readonly T[]): T[] =>
      all
        .map((one) => [chance.below(2 ** 31), one] as const)
        .toSorted(([a], [b]) => a - b)
        .map(([, one]) => one);
    const say = (line: string) => scene.say(`  ${what}, ${way}:${line}`);
    broken.push(...(await roll({ ...scene, order, say, settings: way === 'forward' ? after : before })));
  }
  return broken;
}

/** `ops trust check` fails while the token was needed within the last hour, and allows its removal after an hour without use. */
export async function checkTrust(stack: JourneyStack, env: Record<string, string>): Promise<string[]> {
  const broken: string[] = [];
  // After this time nothing that needs the token is accepted any more, and everything accepted is recorded.
  await delay(TOKEN_MS + WRITTEN_MS);
  const early = await trustCheck(env);
  if (early.code !== 1 || !early.text.includes('accepted a message that nobody signed, last at'))
    broken.push(`ops trust check did not refuse within the hour: ${early.code}\n${early.text}`);
  // As if an hour had passed.
  await withDatabase(stack.file.postgres_url, async (db) => {
    for (const name of serviceNames)
      await db.query(`update ${schemas[name]}.legacy_use set last_at = last_at - interval '1 hour'`);
  });
  await delay(WRITTEN_MS);
  const late = await trustCheck(env);
  if (late.code !== 0) broken.push(`ops trust check refused after an hour: ${late.code}\n${late.text}`);
  return broken;
}

async function trustCheck(env: Record<string, string>): Promise<{ code: number; text: string }> {
  const words = [join(repositoryRoot, 'packages', 'ops', 'src', 'main.ts'), 'trust', 'check'];
  const options = { env: { PATH: process.env['PATH'] ?? '', ...env } };
  return promisify(execFile)(process.execPath, words, options).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    (error: unknown) => {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, text: `${stdout}${stderr}` };
    },
  );
}

/** The kinds that any service has recorded. */
async function whatWasNeeded(stack: JourneyStack): Promise<string[]> {
  const all = serviceNames.map((name) => `select kind from ${schemas[name]}.legacy_use`).join(' union ');
  return withDatabase(stack.file.postgres_url, async (db) => {
    const { rows } = await db.query<{ kind: string }>(`select kind from (${all}) k where kind <> 'watching'`);
    return rows.map(({ kind }) => kind);
  });
}
