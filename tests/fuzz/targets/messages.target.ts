import { randomUUID } from 'node:crypto';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { bindings, EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { SIGNATURE_HEADER, signMessages } from '@quittance/messaging/broker/signature.ts';
import { signerOfKey } from '@quittance/runtime/trust.ts';
import { startSystem, unready } from '../system.ts';
import { isObject, type Json, type Running, type Target } from '../target.ts';

/** A body that is a text goes as it is, anything else as JSON. `version` is a header; null leaves it out. */
type Message = { name: string; body: Json; version: Json };

const hex = (length: number): string => '0123456789abcdef'.repeat(6).slice(0, length);
const [merchant_id, payment_id] = [`mer_${hex(32)}`, `pay_${hex(32)}`];
const transaction_id = hex(64);
const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';
const at = '2026-11-01T12:00:00.000Z';
const later = '2026-11-01T12:30:00.000Z';

const bodies: Record<string, { [name: string]: Json }> = {
  PaymentCreated: {
    ...{ payment_id, merchant_id, network: 'local', recipient: wallet },
    ...{ amount: '10.5', created_at: at, expires_at: later },
  },
  PaymentClosed: { payment_id, merchant_id, network: 'local', recipient: wallet, status: 'EXPIRED', closed_at: later },
  PaymentPaid: {
    ...{ payment_id, merchant_id, expected_amount: '10.5', transaction_id, transaction_event_index: 3 },
    ...{ description: 'Two coffees', paid_at: later, order_id: 'o 1', metadata: { a: 'b' }, requested_amount: '10' },
  },
  NoticeRaised: {
    ...{
      merchant_id,
      event_type: 'transfer.unmatched',
      payment_id,
      expected_amount: '10.5',
      description: 'Two coffees',
    },
    ...{ transaction_id, transaction_event_index: 3, order_id: 'o 1', metadata: { a: 'b' }, requested_amount: '10' },
    transfer: { amount: '10', reason: 'underpaid', network: 'local', merchant_wallet: wallet, block_timestamp: at },
  },
  MerchantRegistered: {
    ...{ merchant_id, name: 'Shop', access_type: 'beta', total_limit: 10, daily_limit: 5 },
    ...{ beta_duration_days: 20, registered_at: at },
  },
  MerchantStatusChanged: { merchant_id, status: 'blocked', status_version: 2, changed_at: at },
  AccessChanged: {
    ...{ merchant_id, policy_version: 2, access_type: 'beta', account_active: true, creation_paused: false },
    ...{ beta_duration_days: 20, beta_started_at: at, beta_expires_at: later, total_limit: 10, daily_limit: null },
    ...{ package_number: 1, changed_at: at },
  },
  WebhookConfigured: { merchant_id, configured_at: at, events: ['PAID', 'EXPIRED'], version: 3 },
  TransferObserved: {
    ...{ merchant_id, network: 'local', transaction_id, transaction_event_index: 3, block_number: 7 },
    ...{ block_hash: `0x${hex(64)}`, block_timestamp: at, from: wallet, to: wallet, amount_units: '10500000' },
    ...{ decimals: 6, phase: 'confirmed', version: 1, confirmations: 3, confirmations_required: 2 },
  },
};

/** What the schemas allow, and no column can hold. */
const refused: [name: string, change: { [name: string]: Json }][] = [
  ['MerchantStatusChanged', { status_version: 2 ** 53 }],
  ['AccessChanged', { total_limit: 2 ** 40, policy_version: 9 }],
  ['PaymentCreated', { created_at: '2026-02-30T25:00:00.000Z' }],
];

const isMessage = (input: Json): input is Message & { [name: string]: Json } =>
  isObject(input) && typeof input['name'] === 'string' && input['name'] in bodies && 'body' in input;

export const target: Target = {
  name: 'messages',
  isWhole: true,
  about: 'each message at each of its consumers; it takes effect or becomes a dead letter, and holds up no other',
  starts: [
    ...Object.entries(bodies).map(([name, body]) => ({ name, body, version: 1 })),
    ...refused.map(([name, change]) => ({ name, body: { ...bodies[name], ...change }, version: 1 })),
  ],
  accepts: isMessage,
  start,
};

/** What a message may come to in the end. */
const ENDS = ['done', 'duplicate', 'dead'] as const;
type Counts = Record<(typeof ENDS)[number] | 'failed', number>;

async function start(environment: Record<string, string>): Promise<Running> {
  const system = await startSystem(environment);
  const stack = system.file;
  const broker = connectBroker({ url: stack.amqp_url, name: 'fuzz', logger: testLogger, metrics: testMetrics });
  await eventually(() => {
    if (!broker.canPublish()) throw new Error('the broker is not there yet');
  });

  async function countsOf(name: string): Promise<Map<string, Counts>> {
    const mine = bindings.filter(({ message }) => message.name === name);
    const counted = mine.map(async ({ service, handler, queue }) => {
      const text = await (await fetch(`${stack.services[service].url}/metrics`)).text();
      return [queue, countsIn(text, handler)] as const;
    });
    return new Map(await Promise.all(counted));
  }

  /** As the service would that publishes it: what nobody signed comes to no handler. */
  async function publish({ name, body: value, version }: Message): Promise<void> {
    const messageId = randomUUID();
    const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
    const publisher = bindings.find(({ message }) => message.name === name)!.message.published_by;
    const signer = signerOfKey(stack.signing_keys[publisher]);
    const [signature] = signMessages(signer, [
      { name, version: version === null ? Number.NaN : Number(version), messageId, body },
    ]);
    const properties = {
      ...{ messageId, persistent: true, type: name, contentType: 'application/json' },
      headers: { ...(version !== null && { version }), [SIGNATURE_HEADER]: signature },
    };
    const [outcome] = await broker.publish([{ exchange: EXCHANGE, routingKey: name, body, properties }]);
    if (outcome !== 'confirmed') throw new Error(`the broker has ${outcome} the message`);
  }

  const running: Running = {
    async put(input: Json) {
      if (!isMessage(input)) return { problems: [], outcome: 'no message' };
      const before = await countsOf(input.name);
      await publish(input);
      const after = await eventually(
        async () => {
          const counts = await countsOf(input.name);
          const open = [...counts].filter(([queue, now]) => endsOf(now) === endsOf(before.get(queue)!));
          // One that failed is tried again for minutes; it is told by that, and holds up nobody meanwhile.
          if (open.some(([queue, now]) => now.failed === before.get(queue)!.failed)) throw new Error('not yet');
          return counts;
        },
        { timeoutMs: 30_000, intervalMs: 5 },
      );
      const came = [...after].map(([queue, now]) => `${queue} ${differenceOf(before.get(queue)!, now)}`);
      const failed = came.filter((line) => line.endsWith('failed'));
      return { problems: failed.map((line) => `is tried again and again: ${line}`), outcome: came.join(', ') };
    },
    async check() {
      const witness = { ...bodies['MerchantStatusChanged'], merchant_id: newId('mer') };
      const { outcome } = await running.put({ name: 'MerchantStatusChanged', body: witness, version: 1 });
      const works = outcome === 'webhook-dispatcher.merchant-status-changed done, quota.merchant-status-changed done';
      return [...(works ? [] : [`a good message came to: ${outcome}`]), ...(await unready(system))];
    },
    async close() {
      await broker.close();
      await system.close();
    },
  };
  return running;
}

const endsOf = (counts: Counts): number => ENDS.reduce((sum, end) => sum + counts[end], 0);

function differenceOf(before: Counts, now: Counts): string {
  return ENDS.find((end) => now[end] > before[end]) ?? 'failed';
}

function countsIn(metrics: string, handler: string): Counts {
  const count = (result: string): number => {
    const line = metrics
      .split('\n')
      .find(
        (text) =>
          text.startsWith('messaging_consumed_total{') && text.includes(`"${handler}"`) && text.includes(`"${result}"`),
      );
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  return { done: count('done'), duplicate: count('duplicate'), dead: count('dead'), failed: count('failed') };
}
