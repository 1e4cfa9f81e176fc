import { newId, newPublicToken, newSecret, sha256 } from '@quittance/contracts/ids.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { createPayment } from '@quittance/local-stack/stack/demo-merchant.ts';
import { withDatabase } from '../../support/database.ts';

const PAYMENTS_OF_A_MERCHANT = 5;

export type SeededPayment = { apiKey: string; paymentId: string; publicToken: string };

/**
 * Thousands of merchants and payments, which the creation limits would delay for hours: the API creates one payment, and SQL copies its row
 * with a new id, token and amount. They are only read.
 * @param merchantCount enough that both limits, 120 a minute for a merchant's reads and for a token, are never reached.
 */
export async function seedPayments(stack: StackFile, merchantCount: number): Promise<SeededPayment[]> {
  const model = await createPayment(stack.edge_url, stack.merchant, { amount: '10.50', description: 'Tea' });
  const merchants = Array.from({ length: merchantCount }, () => ({
    merchantId: newId('mer'),
    apiKey: newSecret('qk'),
  }));
  const payments = merchants.flatMap((merchant) =>
    Array.from({ length: PAYMENTS_OF_A_MERCHANT }, () => ({
      ...merchant,
      paymentId: newId('pay'),
      publicToken: newPublicToken(),
    })),
  );
  await withDatabase(stack.postgres_url, async (db) => {
    const ids = merchants.map(({ merchantId }) => merchantId);
    await db.query(`insert into gateway.merchant (merchant_id, name) select unnest($1::text[]), 'bench'`, [ids]);
    await db.query(
      `insert into gateway.api_key (key_hash, merchant_id) select * from unnest($1::bytea[], $2::text[])`,
      [merchants.map(({ apiKey }) => sha256(apiKey)), ids],
    );
    await db.query(
      `insert into payments.payment
         select (jsonb_populate_record(model, jsonb_build_object(
           'payment_id', copy.payment_id, 'merchant_id', copy.merchant_id, 'public_token', copy.public_token,
           'token_sha256', copy.token_sha256, 'amount_units', model.amount_units + copy.position))).*
         from payments.payment model,
              unnest($2::text[], $3::text[], $4::text[], $5::bytea[]) with ordinality
                as copy (payment_id, merchant_id, public_token, token_sha256, position)
         where model.payment_id = $1`,
      [
        model.payment_id,
        payments.map(({ paymentId }) => paymentId),
        payments.map(({ merchantId }) => merchantId),
        payments.map(({ publicToken }) => publicToken),
        payments.map(({ publicToken }) => sha256(publicToken)),
      ],
    );
    await db.query('vacuum analyze');
    await db.query('checkpoint');
  });
  // Two payments of one merchant in a row would wait for its counter's row.
  return shuffled(payments);
}

/** Fisher–Yates. */
function shuffled<T>(items: readonly T[]): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
