import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ensureToken } from '@quittance/local-backends/token/token.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { latenciesOf } from '../../benchmarks/support/latencies.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import { Shop } from '../../support/shop.ts';
import { stackFor, type Row } from './row.ts';

const TRANSFERS = 1_500;
/** This many transfers fit into one transaction. */
const BATCH = 100;
const MERCHANTS = 5;
/** Within a merchant's limit for a minute, and spread over the time of the dust. */
const CREATIONS_EACH = 25;
const CREATE_EVERY_MS = 80;
const HONEST_PAYMENTS = 5;
/** The p99 of 125 creations is one pause of the machine; that of three alternating rounds is not. */
const ROUNDS = 3;
const MOST_TIMES = 2;
const MOST_MORE_MS = 1_000;

export const row: Row = {
  name: 'stack-dust',
  about:
    '1,500 (or --runs) transfers of a millionth of a USDT on chain to one wallet, through a whole stack, while five merchants create and ' +
    'customers pay: the creation p99 is at most twice as long, and a payment is PAID at most 1 s later',
  before: 'creation p99 96 ms became 236 to 465 ms, and an honest payment was PAID after 8 to 15 s instead of 1.4 s',
  async run(context) {
    const { runs, onEnd } = context;
    const stack = await stackFor(context);
    const db = new pg.Client({ connectionString: stack.file.postgres_url });
    await db.connect();
    onEnd(() => db.end());
    let serial = 0;
    const amount = (): string => `2.${String((serial += 1)).padStart(6, '0')}`;

    const refused: string[] = [];
    /** Creations of five new merchants, and payments of one customer after the other. */
    async function observe(into: Observed, shops: readonly Shop[]): Promise<void> {
      const create = async (shop: Shop): Promise<void> => {
        const { status, text } = await shop.create(amount());
        if (status !== 201) refused.push(`a creation answered ${status} ${text}`);
      };
      await Promise.all([
        ...shops.map(async (shop, index) => {
          await delay((index * CREATE_EVERY_MS) / MERCHANTS);
          for (let n = 0; n < CREATIONS_EACH; n += 1) {
            into.creations.push(await timed(() => create(shop)));
            await delay(CREATE_EVERY_MS);
          }
        }),
        (async () => {
          const honest = await Shop.open(stack);
          for (let n = 0; n < HONEST_PAYMENTS; n += 1) into.paid.push(await payHonestly(db, honest, amount()));
        })(),
      ]);
    }

    const count = runs ?? TRANSFERS;
    const observed = { without: nothingObserved(), beside: nothingObserved() };
    const recordedMs: number[] = [];
    await payHonestly(db, await Shop.open(stack), amount());
    for (let round = 0; round < (runs === null ? ROUNDS : 1); round += 1) {
      // A merchant may create only a limited number in a minute.
      const shops = await Promise.all(Array.from({ length: 2 * MERCHANTS + 1 }, () => Shop.open(stack)));
      const dusty = shops.pop()!;
      await dusty.create('1');
      const sendDust = await prepareDust(stack, db, dusty.wallet, count);
      await observe(observed.without, shops.slice(0, MERCHANTS));
      const [ms] = await Promise.all([timed(sendDust), observe(observed.beside, shops.slice(MERCHANTS))]);
      recordedMs.push(ms);
    }

    const without = summaryOf(observed.without);
    const beside = summaryOf(observed.beside);
    const broken = [...refused];
    if (beside.creation.p99 > MOST_TIMES * without.creation.p99) {
      broken.push(`the p99 of creation went from ${ms(without.creation.p99)} to ${ms(beside.creation.p99)}`);
    }
    if (beside.paid.max > without.paid.max + MOST_MORE_MS) {
      broken.push(
        `a payment was PAID ${ms(beside.paid.max)} after its block, and after ${ms(without.paid.max)} at most before`,
      );
    }
    return {
      broken,
      measured: [
        `creation p99 ${ms(without.creation.p99)} of ${without.creation.count} without, ${ms(beside.creation.p99)} of ` +
          `${beside.creation.count} with the dust; ${count} transfers were on chain and recorded in ${recordedMs.map(ms).join(', ')}`,
        `PAID ${ms(without.paid.p50)} (p50) and ${ms(without.paid.max)} (at most) after the block without, ` +
          `${ms(beside.paid.p50)} and ${ms(beside.paid.max)} with it, of ${without.paid.count} and ${beside.paid.count}`,
      ],
    };
  },
};

type Observed = { creations: number[]; paid: number[] };

const nothingObserved = (): Observed => ({ creations: [], paid: [] });

const summaryOf = ({ creations, paid }: Observed) => ({ creation: latenciesOf(creations), paid: latenciesOf(paid) });

const ms = (milliseconds: number): string => `${milliseconds.toFixed(0)} ms`;

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

/** @returns milliseconds from the transfer's block to PAID. */
async function payHonestly(db: pg.Client, shop: Shop, amount: string): Promise<number> {
  const payment = await shop.createOrThrow(amount);
  await shop.pay(amount);
  // Not with the API, whose limit for reads would be used up soon.
  const isPaid = async () => {
    const { rows } = await db.query<{ status: string }>('select status from payments.payment where payment_id = $1', [
      payment.payment_id,
    ]);
    if (rows[0]?.status !== 'PAID') throw new Error(`the payment is ${rows[0]?.status}`);
  };
  return timed(() => eventually(isPaid, { intervalMs: 20 }));
}

/** @returns a function that sends the dust and waits until payments has recorded it. */
async function prepareDust(
  { file }: JourneyStack,
  db: pg.Client,
  wallet: string,
  count: number,
): Promise<() => Promise<void>> {
  const token = await ensureToken(file.chain.rpc_url);
  const batchOf = (size: number) => token.prepareBatch(Array.from({ length: size }, () => ({ to: wallet, units: 1n })));
  const full = batchOf(BATCH);
  const rest = count % BATCH;
  const batches = [
    ...Array.from({ length: Math.floor(count / BATCH) }, () => full),
    ...(rest > 0 ? [batchOf(rest)] : []),
  ];
  const isRecorded = async () => {
    const { rows } = await db.query<{ count: number }>(
      'select count(*)::int as count from payments.transfer where lower(recipient) = lower($1)',
      [wallet],
    );
    if (rows[0]!.count < count) throw new Error(`${rows[0]!.count} of ${count} transfers are recorded`);
  };
  return async () => {
    await Promise.all(batches.map((send) => send()));
    await eventually(isRecorded, { timeoutMs: 300_000, intervalMs: 250 });
  };
}
