import { OPS, type Caller, serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { issueOperatorToken, OPERATOR_TOKEN_HEADER } from '@quittance/http/operator-token.ts';
import { bindings } from '@quittance/messaging/broker/topology.ts';
import { newSigningKey, signerOfKey, trustedKeysOf } from '@quittance/runtime/trust.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';
import { send } from '../../support/http.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import { management, virtualHostOf } from '../../support/management.ts';
import { roll, type Rolling } from './roll.ts';

type Keys = Record<Caller, string>;

const callers: readonly Caller[] = [...serviceNames, OPS];
const newKeys = (): Keys => Object.fromEntries(callers.map((name) => [name, newSigningKey()])) as Keys;

/**
 * Replaces the key of each service and of `ops` in three rolling restarts: every process accepts the new keys too, each signs with its new
 * one, none accepts the old ones. All keys change together, so that in the second one each process gets old and new signatures of every
 * other.
 * @returns what did not hold. Afterwards the old keys must be useless.
 */
export async function replaceSigningKeys(scene: Rolling): Promise<string[]> {
  const { stack, say } = scene;
  const old = stack.file.signing_keys;
  const keys = newKeys();
  const both = `${trustedKeysOf(old)},${trustedKeysOf(keys)}`;
  const step = (what: string, settings: (name: ServiceName) => Record<string, string>) => {
    say(`  the signing keys: ${what}`);
    return roll({ ...scene, settings });
  };
  const broken = [
    ...(await step('accept the new ones', () => ({ TRUSTED_KEYS: both }))),
    ...(await step('sign with the new ones', (name) => ({ SIGNING_KEY: keys[name] }))),
  ];
  await untilNothingOldWaits(stack);
  broken.push(...(await step('forget the old ones', () => ({ TRUSTED_KEYS: trustedKeysOf(keys) }))));
  stack.file.signing_keys = keys;
  return [...broken, ...(await whatIsAccepted(stack, old, keys))];
}

/** A message is signed when it is published. Messages signed with old keys must be handled before the old keys are removed. */
async function untilNothingOldWaits({ file }: JourneyStack): Promise<void> {
  const untilEmpty = new Set(bindings.map(({ queue }) => queue));
  await withDatabase(file.postgres_url, (db) => eventually(() => untilRelayed(db), WAIT));
  // New messages arrive all the time, so it is enough that each queue was empty once.
  await eventually(async () => {
    const queues = await management<{ name: string; messages?: number }[]>(
      file,
      'GET',
      `/queues/${virtualHostOf(file)}?columns=name,messages`,
    );
    for (const { name, messages } of queues) if (messages === 0) untilEmpty.delete(name);
    if (untilEmpty.size > 0) throw new Error(`messages wait in ${[...untilEmpty].join(', ')}`);
  }, WAIT);
}

const WAIT = { intervalMs: 500 };

async function untilRelayed(db: Parameters<Parameters<typeof withDatabase>[1]>[0]): Promise<void> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from (
       select created_at from payments.outbox union all select created_at from gateway.outbox
       union all select created_at from chain.outbox union all select created_at from webhooks.outbox
       union all select created_at from quota.outbox) o
      where created_at < now() - interval '5 seconds'`,
  );
  if (rows[0]!.count > 0) throw new Error(`${rows[0]!.count} messages are still to be published`);
}

/** Calls each service as every process, with its old key and with the new one, and as an operator, whose token api-gateway signs. */
async function whatIsAccepted({ services }: JourneyStack, old: Keys, keys: Keys): Promise<string[]> {
  const broken: string[] = [];
  for (const { name, url } of services) {
    if (name === 'console' || name === 'single') continue;
    for (const caller of callers) {
      const status = (of: Keys) => statusOf(url, callAs({ signing_keys: of }, name, caller));
      if ((await status(old)) !== 401) broken.push(`${name} at ${url} still accepts the old key of ${caller}`);
      if ((await status(keys)) === 401) broken.push(`${name} at ${url} does not accept the new key of ${caller}`);
    }
    const status = (of: Keys) => statusOf(url, { [OPERATOR_TOKEN_HEADER]: tokenBy(of) });
    if ((await status(old)) !== 401) broken.push(`${name} at ${url} accepts operators with the gateway's old key`);
    if ((await status(keys)) === 401) broken.push(`${name} at ${url} accepts no operators with the gateway's new key`);
  }
  return broken;
}

const tokenBy = (keys: Keys): string =>
  issueOperatorToken(
    { signer: signerOfKey(keys['api-gateway']), sharedTokens: [] },
    { name: 'somebody', role: 'admin' },
  );

/** An unknown path: 401 for an unknown caller, 404 for all others. */
const statusOf = async (url: string, headers: Record<string, string>): Promise<number> =>
  (await send('GET', `${url}/internal/v1/nothing`, { headers })).status;
