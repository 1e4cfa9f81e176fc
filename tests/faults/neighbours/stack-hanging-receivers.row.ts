import { setTimeout as delay } from 'node:timers/promises';
import { parseAmount, toTokenUnits } from '@quittance/contracts/amount.ts';
import { ensureToken } from '@quittance/local-backends/token/token.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { latenciesOf, type Latencies } from '../../benchmarks/support/latencies.ts';
import { answerWith } from '../../support/receiver.ts';
import { withDatabase } from '../../support/database.ts';
import { fewAtATime } from '../../support/http.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import { Shop } from '../../support/shop.ts';
import { stackFor, type Row } from './row.ts';

const MERCHANTS = 150;
const EVENTS_EACH = 9;
const HEALTHY_EVENTS = 20;
const PAUSE_MS = 250;
const MOST_MS = 100;

export const row: Row = {
  name: 'stack-hanging-receivers',
  about:
    '150 (or --runs) merchants whose receivers never answer, with 9 paid payments each, through a whole stack: an event of another merchant ' +
    'reaches its receiver in 100 ms at most',
  before: 'a healthy event arrived after 1,025 ms instead of 19 ms',
  async run(context) {
    const { runs, say } = context;
    const stack = await stackFor(context);
    const healthy = await Shop.open(stack);
    const noisy = await fewAtATime(Array.from({ length: runs ?? MERCHANTS }, () => () => openHanging(stack)));
    const unpaid = await fewAtATime(
      noisy.flatMap((shop) =>
        Array.from({ length: EVENTS_EACH }, (_, n) => async () => {
          await shop.createOrThrow(`${n + 1}`);
          return { to: shop.wallet, amount: `${n + 1}` };
        }),
      ),
    );
    say(`  ${unpaid.length} payments wait for their transfers`);
    const quiet = await deliver(stack, healthy, 0);
    await payAll(stack, unpaid);
    const beside = await deliver(stack, healthy, HEALTHY_EVENTS);
    return {
      broken: beside.max > MOST_MS ? [`an event reached its receiver after ${beside.max.toFixed(0)} ms`] : [],
      measured: [
        `${describe(quiet)} without, ${describe(beside)} next to ${noisy.length} hanging receivers, from the transaction that made ` +
          `the payment PAID to the receiver`,
      ],
    };
  },
};

const describe = ({ p50, p99, max, count }: Latencies): string =>
  `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, at most ${max.toFixed(0)} ms of ${count}`;

async function openHanging(stack: JourneyStack): Promise<Shop> {
  const shop = await Shop.open(stack);
  await answerWith(stack.file, shop.host, { hang: true });
  return shop;
}

/** One transfer for each payment, a hundred in a transaction. */
async function payAll(stack: JourneyStack, unpaid: readonly { to: string; amount: string }[]): Promise<void> {
  const token = await ensureToken(stack.file.chain.rpc_url);
  const transfers = unpaid.map(({ to, amount }) => ({ to, units: toTokenUnits(parseAmount(amount)!, token.decimals) }));
  for (let start = 0; start < transfers.length; start += 100) await token.payBatch(transfers.slice(start, start + 100));
}

/** Payments of a healthy merchant, one after the other. `from`: makes their amounts different from earlier ones. */
async function deliver(stack: JourneyStack, shop: Shop, from: number): Promise<Latencies> {
  const latencies: number[] = [];
  for (let n = 1; n <= HEALTHY_EVENTS; n += 1) {
    const amount = `${from + n}`;
    const payment = await shop.createOrThrow(amount);
    await shop.pay(amount);
    const arrived = await eventually(
      async () => {
        const found = (await shop.webhooks()).find(({ body }) => body.payment_id === payment.payment_id);
        if (found === undefined) throw new Error('the event has not arrived');
        return Date.parse(found.received_at);
      },
      { intervalMs: 100 },
    );
    latencies.push(arrived - (await paidAt(stack, payment.payment_id)));
    await delay(PAUSE_MS);
  }
  return latenciesOf(latencies);
}

/** When the transaction that made it PAID wrote its message, in milliseconds since 1970. */
async function paidAt(stack: JourneyStack, paymentId: string): Promise<number> {
  return withDatabase(stack.file.postgres_url, async (db) => {
    const { rows } = await db.query<{ at: Date }>(
      `select created_at as at from payments.sent_message where name = 'PaymentPaid' and body::jsonb ->> 'payment_id' = $1
       union all
       select created_at from payments.outbox where name = 'PaymentPaid' and body::jsonb ->> 'payment_id' = $1`,
      [paymentId],
    );
    return rows[0]!.at.getTime();
  });
}
