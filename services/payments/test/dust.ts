import { setTimeout as pause } from 'node:timers/promises';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { create, newMerchant, newPayment, newWallet, transferFor, type TestPayment, wholeSecond } from './fixtures.ts';
import { network, type PaymentsUnderTest } from './service.ts';

/** Milliseconds each, in the order of their ends. `refused` counts 503 answers. */
export type Creations = { ms: number[]; refused: number };

/** This many transfers of a millionth of a USDT to one wallet, as chain-watcher publishes them. */
export const dustOn = ({ merchantId, payment }: TestPayment, count: number): TransferObserved[] =>
  Array.from({ length: count }, () =>
    transferFor(merchantId, payment, { amount_units: '1', block_timestamp: wholeSecond(new Date(), 1) }),
  );

/** Waits until the ledger has this many transfers to the wallet. @returns milliseconds. */
export async function untilRecorded({ db }: PaymentsUnderTest, recipient: string, count: number): Promise<number> {
  const startedAt = performance.now();
  await eventually(
    async () => {
      const { rows } = await db.query<{ count: number }>(
        'select count(*)::int as count from transfer where network = $1 and recipient = $2',
        [network, recipient],
      );
      if (rows[0]!.count < count) throw new Error(`${rows[0]!.count} of ${count} transfers are recorded`);
    },
    { timeoutMs: 300_000, intervalMs: 20 },
  );
  return performance.now() - startedAt;
}

/** Merchants create one payment after the other, each on their own wallets, until `done`. */
export async function createUntil(
  payments: PaymentsUnderTest,
  merchants: readonly string[],
  done: () => boolean,
): Promise<Creations> {
  const creations: Creations = { ms: [], refused: 0 };
  await Promise.all(
    merchants.map(async (merchantId) => {
      const wallet = newWallet();
      for (let units = 1; !done(); units += 1) {
        const startedAt = performance.now();
        const { status, text } = await create(payments, merchantId, { wallet, amount: String(units) }, { once: true });
        creations.ms.push(performance.now() - startedAt);
        if (status === 503) creations.refused += 1;
        else if (status !== 201) throw new Error(`creation answered ${status}: ${text}`);
        await pause(10);
      }
    }),
  );
  return creations;
}

/** Reads readiness repeatedly. @returns how often, and how often the answer was not 200. */
export async function probeUntil(payments: PaymentsUnderTest, done: () => boolean) {
  const probes = { asked: 0, refused: 0 };
  while (!done()) {
    probes.asked += 1;
    if ((await payments.ready()) !== 200) probes.refused += 1;
    await pause(100);
  }
  return probes;
}

/** A normal payment and its confirmed transfer. @returns milliseconds from the message to PAID. */
export async function payHonestly(payments: PaymentsUnderTest, merchantId: string): Promise<number> {
  const one = await newPayment(payments, {}, merchantId);
  const startedAt = performance.now();
  await one.observe({ phase: 'confirmed', confirmations: 2 });
  await eventually(
    async () => {
      const { rows } = await payments.db.query<{ status: string }>('select status from payment where payment_id = $1', [
        one.payment.payment_id,
      ]);
      if (rows[0]!.status !== 'PAID') throw new Error(`the payment is ${rows[0]!.status}`);
    },
    { timeoutMs: 300_000, intervalMs: 10 },
  );
  return performance.now() - startedAt;
}

export const newMerchants = (payments: PaymentsUnderTest, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => newMerchant(payments)));

/** Payments with a wallet each, inserted directly, and the transfers that pay them. */
export async function payablePayments(
  { db }: PaymentsUnderTest,
  merchantId: string,
  count: number,
): Promise<TransferObserved[]> {
  const { rows } = await db.query<{ recipient: string; created_at: Date }>(
    `insert into payment (payment_id, merchant_id, public_token, token_sha256, network, recipient, amount, amount_units, description,
                          created_at, expires_at, expiry_check_at)
     select 'pay_' || md5(random()::text), $1, md5(n::text), sha256(convert_to($1 || random() || n, 'UTF8')), $2,
            '0x' || substr(md5(random()::text) || md5(random()::text), 1, 40), '7', 7000000, 'Two tickets',
            now(), now() + interval '1 hour', now() + interval '1 hour'
       from generate_series(1, $3::int) as n
     returning recipient, created_at`,
    [merchantId, network, count],
  );
  return rows.map(({ recipient, created_at: createdAt }) =>
    transferFor(
      merchantId,
      {
        network,
        created_at: createdAt.toISOString(),
        merchant_wallet: recipient,
        amount: '7',
      } as TestPayment['payment'],
      { phase: 'confirmed', confirmations: 2 },
    ),
  );
}
