import { connect, type ConsumeMessage } from 'amqplib';
import { webhookChoices } from '@quittance/contracts/webhook.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { bindings, EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { inDatabase } from '../../support/database.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { tablesOf } from '../../support/needles.ts';
import { asOperator } from '../../support/operator.ts';
import { patience, untilStatus } from '../../support/paying.ts';
import { untilReceived } from '../../support/receiver.ts';
import { definitions, type Forged, type Victim } from './invented.ts';

/** A merchant who subscribes to every event, and one of whose payments waits with too much money. */
export async function openVictim(stack: StackFile): Promise<Victim> {
  const merchant = await openMerchant(stack);
  await tellEverything(merchant);
  return { merchant, payment: await merchant.created({ amount: '99999' }) };
}

async function tellEverything(merchant: Merchant): Promise<void> {
  const body = { url: `https://${merchant.host}/hooks`, events: [...webhookChoices] };
  const answer = await merchant.call('PUT', '/api/v1/merchant/webhook', { body });
  if (answer.status !== 200) throw new Error(`the choice of events was answered ${answer.status} ${answer.text}`);
}

/** One message of each name, as signed by its publisher, and its merchant. */
export type Genuine = { merchant: Merchant; messages: ReadonlyMap<string, Forged> };

/** Makes everything happen to a merchant, and reads every message as the broker's administrator. All of it has taken effect. */
export async function observeGenuine(stack: StackFile): Promise<Genuine> {
  const connection = await connect(stack.amqp_url, { noDelay: true });
  try {
    const channel = await connection.createChannel();
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, EXCHANGE, '#');
    const seen: ConsumeMessage[] = [];
    await channel.consume(queue, (message) => message !== null && seen.push(message), { noAck: true });
    const merchant = await liveOnce(stack);
    const messages = await eventually(() => oneOfEach(seen, merchant.merchantId), patience);
    return { merchant, messages };
  } finally {
    await connection.close();
  }
}

async function liveOnce(stack: StackFile): Promise<Merchant> {
  const merchant = await openMerchant(stack);
  await tellEverything(merchant);
  const paid = await merchant.created({ amount: '12.5' });
  await payOnChain(stack.chain, paid.merchant_wallet, paid.amount);
  await untilStatus(stack, paid, 'PAID');
  const cancelled = await merchant.created({ amount: '3' });
  const answer = await merchant.call('POST', `/api/v1/payments/${cancelled.payment_id}/cancel`);
  if (answer.status !== 200) throw new Error(`the cancellation was answered ${answer.status} ${answer.text}`);
  // CHECKING may be withdrawn before it is sent.
  await untilReceived(stack, merchant.host, 2);
  for (const change of ['block', 'unblock'])
    await asOperator(stack, 'POST', `/merchants/${merchant.merchantId}/${change}`, {});
  return merchant;
}

function oneOfEach(seen: readonly ConsumeMessage[], merchantId: string): Map<string, Forged> {
  const own = seen.filter(({ content }) => content.includes(merchantId));
  // Exchange rates are no merchant's.
  const ofNobody = seen.filter(({ content }) => !content.includes('mer_'));
  return new Map(
    definitions.map(({ name }) => {
      // The last is the newest: a second effect of an older one would not be visible.
      const isIt = ({ fields }: ConsumeMessage): boolean => fields.routingKey === name;
      const message = own.findLast(isIt) ?? ofNobody.findLast(isIt);
      if (message === undefined) throw new Error(`no ${name} was seen yet`);
      return [name, asForged(name, message)];
    }),
  );
}

function asForged(name: string, { content, properties }: ConsumeMessage): Forged {
  return {
    ...{ what: `a genuine ${name}`, exchange: EXCHANGE, routingKey: name, body: content },
    queues: bindings.filter(({ message }) => message.name === name).map(({ queue }) => queue),
    properties: { ...(properties as Forged['properties']), persistent: true },
  };
}

/** Every row that contains one of these texts, of all tables, or of those whose name matches. */
async function rowsWith(stack: StackFile, needles: readonly string[], tables: RegExp): Promise<string[]> {
  const rows: string[] = [];
  for (const table of (await tablesOf(stack)).filter((name) => tables.test(name))) {
    const found = await inDatabase<{ line: string }>(
      stack,
      `select t::text as line from ${table} t where exists (select from unnest($1::text[]) n where strpos(t::text, n) > 0)`,
      [needles],
    );
    rows.push(...found.map(({ line }) => `${table}: ${line}`));
  }
  return rows.sort();
}

/** The same, when the rows no longer change. */
export function settledRowsWith(stack: StackFile, needles: readonly string[], tables = /./): Promise<string[]> {
  let before: string[] = [];
  return eventually(
    async () => {
      const now = await rowsWith(stack, needles, tables);
      const isSettled = now.length > 0 && JSON.stringify(now) === JSON.stringify(before);
      before = now;
      if (!isSettled) throw new Error(`rows with ${needles.join(', ')} go on changing`);
      return now;
    },
    { timeoutMs: 60_000, intervalMs: 2_000 },
  );
}
