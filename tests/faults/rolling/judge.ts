import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WebhookEvent } from '@quittance/contracts/webhook.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { serviceSchemas } from '@quittance/postgres/roles/service-databases.ts';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { listDeadLetters } from '@quittance/messaging/dead-letter/dead-letter.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { findViolations } from '../../../services/payments/test/invariants.ts';
import { withDatabase } from '../../support/database.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import type { Traffic } from './traffic.ts';

type Received = { body: WebhookEvent; verified: boolean; answer: string };

/** The longest time for everything that was started to finish; without a fault it takes seconds. */
const SETTLE_MS = 120_000;
const noPoison = { sent: new Set<string>(), confirmed: new Set<string>() };

/** Checks rows and receivers after the traffic has ended and everything had time to arrive. @returns a line for each violation. */
export async function judge(stack: JourneyStack, traffic: Traffic): Promise<string[]> {
  const broken = await Promise.all(
    traffic.failures.map(async ({ line, requestId }) => {
      const logged = requestId === null ? [] : await logsOf(stack, requestId);
      return [`a request failed: ${line}`, ...logged].join('\n    ');
    }),
  );
  const late = await settled(stack, traffic);
  broken.push(...late);
  await withDatabase(stack.file.postgres_url, async (db) => {
    await db.query(`set search_path = ${serviceSchemas.payments.schema}`);
    const answered = traffic.created.map(({ shop, idempotencyKey, text }) => ({
      merchantId: shop.merchantId,
      idempotencyKey,
      body: text,
    }));
    broken.push(...(await findViolations(db, { answered, received: null, limitsStood: true })));
    for (const service of serviceNames) {
      const { rows } = await db.query<{ count: number }>(
        `select count(*)::int as count from ${serviceSchemas[service].schema}.outbox`,
      );
      if (rows[0]!.count > 0) broken.push(`${service} has ${rows[0]!.count} messages left in its outbox`);
    }
  });
  broken.push(...(await deadLetters(stack)), ...(await eventsAsPaid(stack, traffic)));
  return broken;
}

/** The log lines of a request, shortened, because the stack's directory is removed afterwards. */
async function logsOf(stack: JourneyStack, requestId: string): Promise<string[]> {
  const directory = join(repositoryRoot, stack.file.logs);
  const texts = (await readdir(directory)).map(async (name) => {
    const lines = (await readFile(join(directory, name), 'utf8')).split('\n');
    return lines.filter((line) => line.includes(requestId)).map((line) => `${name}: ${line.slice(0, 1_000)}`);
  });
  return (await Promise.all(texts)).flat();
}

/** Waits until paid payments are PAID, reported, and recorded as delivered. @returns what never happened. */
async function settled(stack: JourneyStack, { paid }: Traffic): Promise<string[]> {
  const missing = async (): Promise<string[]> =>
    withDatabase(stack.file.postgres_url, async (db) => {
      const { rows } = await db.query<{ what: string }>(
        `select format('%s was paid on the chain and is %s, its event %s', id, coalesce(p.status, 'unknown'), coalesce(d.status, 'missing')) as what
           from unnest($1::text[]) id
           left join payments.payment p on p.payment_id = id
           left join webhooks.event e on e.payment_id = id
           left join webhooks.delivery d using (event_id)
          where p.status is distinct from 'PAID' or d.status is distinct from 'delivered'
          union all
         select format('%s of %s waits in the outbox', name, schema) from (
           select 'payments' as schema, name from payments.outbox union all select 'gateway', name from gateway.outbox
           union all select 'chain', name from chain.outbox union all select 'webhooks', name from webhooks.outbox
           union all select 'quota', name from quota.outbox) o`,
        [[...paid]],
      );
      return rows.map(({ what }) => what);
    });
  try {
    await eventually(
      async () => {
        const left = await missing();
        if (left.length > 0) throw new Error(`${left.length} left`);
      },
      { timeoutMs: SETTLE_MS, intervalMs: 500 },
    );
    return [];
  } catch {
    return missing();
  }
}

/** I7: one verified event for each paid payment and none for others. As every receiver answered at once, each was sent once. */
async function eventsAsPaid(stack: JourneyStack, { paid, created }: Traffic): Promise<string[]> {
  const answer = await fetch(stack.file.receiver.events_url);
  const { events } = (await answer.json()) as { events: Received[] };
  const ours = new Set(created.map(({ payment }) => payment.payment_id));
  const byPayment = Map.groupBy(
    events.filter(({ body }) => ours.has(body.payment_id)),
    ({ body }) => body.payment_id,
  );
  const broken: string[] = [];
  for (const [id, got] of byPayment) {
    if (!paid.has(id)) broken.push(`${id} was reported as paid and is not`);
    if (got.length > 1)
      broken.push(`${id} was reported ${got.length} times: ${got.map(({ body }) => body.event_id).join()}`);
    if (got.some(({ verified }) => !verified)) broken.push(`${id} was reported with a wrong signature`);
  }
  for (const id of paid) if (!byPayment.has(id)) broken.push(`${id} was paid and never reported`);
  return broken;
}

/** @param poison messages that should become dead letters, by message id. */
export async function deadLetters(
  stack: JourneyStack,
  { sent, confirmed }: { sent: ReadonlySet<string>; confirmed: ReadonlySet<string> } = noPoison,
): Promise<string[]> {
  const parts = {
    logger: createLogger({ service: 'tests', level: 'silent' }),
    metrics: createMetrics({ service: 'tests', processMetrics: false }),
  };
  const broker = connectBroker({ url: stack.file.amqp_url, name: 'tests', ...parts });
  try {
    const letters = await eventually(() => listDeadLetters(broker, { limit: Infinity }));
    const dead = new Set(letters.map((letter) => letter.message_id));
    return [
      ...letters
        .filter((letter) => !sent.has(letter.message_id))
        .map((letter) => `a dead letter of ${letter.queue}: ${JSON.stringify(letter)}`),
      ...[...confirmed].filter((id) => !dead.has(id)).map((id) => `the poison ${id} is not a dead letter`),
    ];
  } finally {
    await broker.close();
  }
}
