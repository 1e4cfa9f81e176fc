import { beforeAll, describe, expect } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { PaymentProof } from '@quittance/contracts/api/proof.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { Contract } from '../conformance.test.ts';
import { repeated } from '../support/counted.ts';
import { inDatabase } from '../../support/database.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { createAndPay, detailsOf } from '../../support/paying.ts';
import { rule } from '../support/rule.ts';

/** Finding and counting payments of a merchant with a paid, a cancelled and a waiting one. */
export function extensionsFindingSection(contract: Contract): void {
  describe('extensions: finding and counting', () => {
    let merchant: Merchant;
    let paid: Payment;
    let cancelled: Payment;
    let waiting: Payment;
    const otherWallet = newWallet();

    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
      const first = await createAndPay(contract.stack, merchant, { amount: '20.25', order_id: 'tea/1' });
      const second = await merchant.created({ amount: '3', merchant_wallet: otherWallet, order_id: 'tea/1' });
      cancelled = (await merchant.call('POST', `/api/v1/payments/${second.payment_id}/cancel`)).json<Payment>();
      waiting = await merchant.created({ amount: '4', description: '=1+1, "quoted"; =2', metadata: { cart: '7' } });
      const {
        unmatched_transfers: _,
        warnings: _none,
        transfers: _parts,
        ...payment
      } = await detailsOf(merchant, first);
      paid = payment;
    }, 120_000);

    const get = async (path: string, query: Record<string, string> = {}) =>
      merchant.call('GET', `/api/v1${path}?${new URLSearchParams(query).toString()}`);
    const found = async (query: Record<string, string>) => {
      const [list, page] = await Promise.all([get('/payments', query), get('/payments/page', query)]);
      expect([list.status, page.status]).toEqual([200, 200]);
      const { payments } = list.json<{ payments: Payment[] }>();
      expect(page.json()).toEqual({ payments, next_cursor: null });
      return payments.map(({ payment_id: id }) => id);
    };
    const fieldsOf = async (path: string, query: Record<string, string>) => {
      const answer = await get(path, query);
      expect(answer.status).toBe(422);
      return answer.json<{ detail: { field: string }[] }>().detail.map(({ field }) => field);
    };

    rule('extensions.finding.filters', 'each filter, and all together, narrow down both lists', async () => {
      const { transaction_id: transaction } = paid.transaction!;
      const paidAt = Date.parse(paid.paid_at!);
      const time = (ms: number) => new Date(ms).toISOString();
      expect(await found({ order_id: 'tea/1' })).toEqual([cancelled.payment_id, paid.payment_id]);
      expect(await found({ reference: waiting.reference.toLowerCase() })).toEqual([waiting.payment_id]);
      expect(await found({ transaction_id: transaction })).toEqual([paid.payment_id]);
      expect(await found({ transaction_id: `0x${transaction.toUpperCase()}` })).toEqual([paid.payment_id]);
      expect(await found({ merchant_wallet: otherWallet.toLowerCase() })).toEqual([cancelled.payment_id]);
      expect(await found({ network: paid.network })).toHaveLength(3);
      expect(await found({ paid_from: time(paidAt) })).toEqual([paid.payment_id]);
      expect(await found({ paid_from: time(paidAt - 1), paid_to: time(paidAt) })).toEqual([]);
      expect(await found({ order_id: 'tea/1', status: 'CANCELLED', network: paid.network })).toEqual([
        cancelled.payment_id,
      ]);
      expect(await found({ order_id: 'tea/1', merchant_wallet: merchant.wallet, status: 'CANCELLED' })).toEqual([]);
    });

    rule('extensions.proof', 'the proof is about the block and the transfer that paid the payment', async () => {
      const answer = await get(`/payments/${paid.payment_id}/proof`);
      const { transaction_id, transaction_event_index, block_number, block_timestamp } = paid.transaction!;
      const { token, rpc_url: url } = contract.stack.chain;
      const block = await rpc<{ hash: string }>(url, 'eth_getBlockByNumber', [`0x${block_number.toString(16)}`, false]);
      expect([answer.status, answer.json<PaymentProof>()]).toMatchObject([
        200,
        {
          payment: { payment_id: paid.payment_id, amount: '20.25', paid_at: paid.paid_at },
          token: token.toLowerCase(),
          block: { number: block_number, hash: block.hash, timestamp: block_timestamp },
          receipts: [{ transaction_id, log_index: transaction_event_index }],
        },
      ]);
    });

    rule('extensions.proof.refused', 'a payment that is not PAID has no proof, and the answer says so', async () => {
      for (const { payment_id: id, status } of [waiting, cancelled]) {
        const answer = await get(`/payments/${id}/proof`);
        expect([answer.status, answer.json()]).toEqual([
          409,
          { detail: expect.stringContaining(status), code: 'proof_unavailable' },
        ]);
      }
    });

    rule('extensions.finding.filters', "none of them finds another merchant's payments", async () => {
      const other = await openMerchant(contract.stack, { webhook: false });
      const asked = { order_id: 'tea/1', reference: paid.reference, transaction_id: paid.transaction!.transaction_id };
      for (const [name, value] of Object.entries(asked)) {
        const answer = await other.call('GET', `/api/v1/payments?${name}=${encodeURIComponent(value)}`);
        expect([answer.status, answer.json()]).toEqual([200, { payments: [] }]);
      }
    });

    rule('extensions.finding.filters-empty', 'an empty parameter counts as absent', async () => {
      for (const path of ['/api/v1/payments', '/api/v1/payments/page']) {
        const all = await merchant.call('GET', path);
        const answer = await merchant.call('GET', `${path}?order_id=&status=&network=&limit=&paid_from=&cursor=`);
        expect([answer.status, answer.text]).toEqual([200, all.text]);
      }
    });

    rule('extensions.finding.filters-refused', 'bad filters are 422, each of them named', async () => {
      const bad = {
        order_id: 'te\u200ba',
        reference: 'ABC',
        transaction_id: '0x12',
        merchant_wallet: '0x1234',
        network: 'mainnet',
        paid_from: '2026-01-31',
        paid_to: 'now',
      };
      for (const path of ['/payments', '/payments/page'])
        expect((await fieldsOf(path, bad)).sort()).toEqual(Object.keys(bad).sort());
    });

    rule('extensions.finding.export', 'an export has every payment, oldest first; ndjson counts them', async () => {
      const answer = await get('/payments/export', { format: 'ndjson' });
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
      const lines = answer.text.split('\n');
      expect(lines.splice(-2)).toEqual(['{"end":3}', '']);
      expect(lines.map((line) => JSON.parse(line) as Payment)).toEqual([paid, cancelled, waiting]);
      const [only] = (await get('/payments/export', { format: 'ndjson', status: 'CANCELLED' })).text.split('\n');
      expect(JSON.parse(only!)).toEqual(cancelled);
      const until = { format: 'ndjson', created_to: cancelled.created_at };
      expect((await get('/payments/export', until)).text.split('\n').slice(1)).toEqual(['{"end":1}', '']);
    });

    rule('extensions.finding.export', 'CSV has a header line, and no cell that is a formula', async () => {
      const answer = await get('/payments/export');
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
      const [head, ...rows] = answer.text.split('\r\n');
      expect(head!.split(',')).toEqual(expect.arrayContaining(['payment_id', 'order_id', 'status', 'transaction_id']));
      expect(rows.map((row) => row.slice(0, paid.payment_id.length))).toEqual([
        ...[paid, cancelled, waiting].map(({ payment_id: id }) => id),
        '',
      ]);
      expect(rows[2]).toContain(`,"'=1+1, ""quoted""; '=2",`);
    });

    rule(
      'extensions.finding.export',
      'CSV begins with a byte order mark if `bom` is 1, and ndjson does not',
      async () => {
        const firstOf = async (query: Record<string, string>) =>
          (await get('/payments/export', query)).text.slice(0, 11);
        expect(await firstOf({ bom: '1' })).toBe('\ufeffpayment_id');
        expect(await firstOf({ bom: '0' })).toBe('payment_id,');
        expect(await firstOf({ bom: '1', format: 'ndjson' })).toBe('{"payment_i');
      },
    );

    rule('extensions.finding.export-one', 'while one is in progress, another one is 429 with Retry-After', async () => {
      const held = `insert into payments.export_lease values ($1, gen_random_uuid(), now() + interval '40 seconds')`;
      await inDatabase(contract.stack, held, [merchant.merchantId]);
      const answer = await get('/payments/export');
      expect([answer.status, answer.json()]).toEqual([429, { detail: 'Rate limit exceeded', code: 'rate_limited' }]);
      expect(answer.headers['retry-after']).toMatch(/^[1-4]?\d$/);
      await inDatabase(contract.stack, 'update payments.export_lease set ends_at = now() where merchant_id = $1', [
        merchant.merchantId,
      ]);
      expect((await get('/payments/export')).status).toBe(200);
      expect((await get('/payments/export')).status).toBe(200);
    });

    rule(
      'extensions.finding.export-refused',
      'an export of more than 366 days, or in another format, is 422',
      async () => {
        const year = { created_from: '2025-01-01T00:00:00Z', created_to: '2026-01-02T00:00:00Z' };
        expect((await get('/payments/export', year)).status).toBe(200);
        const more = { ...year, created_to: '2026-01-02T00:00:01Z' };
        expect(await fieldsOf('/payments/export', more)).toEqual(['created_from']);
        expect(await fieldsOf('/payments/export', { format: 'xlsx', status: 'x' })).toEqual(['status', 'format']);
      },
    );

    rule('extensions.finding.report', 'a report counts by day and month, with the sum of the transfers', async () => {
      // The payments may be on both sides of midnight.
      const days = [paid, cancelled, waiting].map(({ created_at: at }) => at.slice(0, 10)).sort();
      const span = { from: days[0]!, to: new Date(Date.now() + 60_000).toISOString().slice(0, 10) };
      const totals = { created: 3, paid: 1, paid_amount: '20.25', expired: 0, cancelled: 1, paid_prices: {} };
      for (const [group, period] of [
        ['day', /^\d{4}-\d\d-\d\d$/],
        ['month', /^\d{4}-\d\d$/],
      ] as const) {
        const answer = await get('/merchant/report', { ...span, group });
        expect(answer.status).toBe(200);
        const report = answer.json<{
          rows: { period: string; network: string; created: number }[];
          totals: object;
        }>();
        expect(report.totals).toEqual(totals);
        expect(report.rows[0]).toMatchObject({ period: expect.stringMatching(period), network: paid.network });
        expect(report.rows.reduce((sum, { created }) => sum + created, 0)).toBe(3);
      }
      expect((await get('/merchant/report', { from: '2020-01-01', to: '2021-02-03' })).json()).toEqual({
        rows: [],
        totals: { created: 0, paid: 0, paid_amount: '0', expired: 0, cancelled: 0, paid_prices: {} },
      });
    });

    rule('extensions.finding.report-by', 'a report counts paid payments by PAID or by block', async () => {
      const { created_at: created, paid_at: paidAt, transaction } = paid;
      const days = [created, paidAt!, transaction!.block_timestamp].map((at) => at.slice(0, 10)).sort();
      const span = { from: days[0]!, to: days[2]!, group: 'day' };
      for (const [by, at] of [['payment', paidAt!] as const, ['chain', transaction!.block_timestamp] as const]) {
        const answer = await get('/merchant/report', { ...span, by });
        const { rows } = answer.json<{ rows: { period: string; paid: number; paid_amount: string }[] }>();
        const found = rows.filter((row) => row.paid > 0);
        expect([by, found]).toMatchObject([by, [{ period: at.slice(0, 10), paid: 1, paid_amount: '20.25' }]]);
      }
      expect((await get('/merchant/report', span)).text).toBe(
        (await get('/merchant/report', { ...span, by: 'payment' })).text,
      );
      expect(await fieldsOf('/merchant/report', { ...span, by: 'time' })).toEqual(['by']);
    });

    rule(
      'extensions.finding.report-refused',
      'a report of more than 400 rows, or without its days, is 422',
      async () => {
        expect(await fieldsOf('/merchant/report', {})).toEqual(['from', 'to']);
        expect(await fieldsOf('/merchant/report', { from: '2026-01-01', to: '2027-02-05' })).toEqual(['to']);
        expect(await fieldsOf('/merchant/report', { from: '2026-01-02', to: '2026-01-01' })).toEqual(['to']);
        const wrong = { from: '2026-02-30', to: '1.1.2026', group: 'week' };
        expect(await fieldsOf('/merchant/report', wrong)).toEqual(['from', 'to', 'group']);
      },
    );

    rule('extensions.finding.limit', 'exports and reports count with the other reads', async () => {
      const day = { from: '2026-01-01', to: '2026-01-01' };
      const reads = await repeated(60, () => get('/merchant/report', day));
      const others = await repeated(61, () => get('/payments', {}));
      expect([...reads, ...others].map(({ status }) => status)).toContain(429);
      expect((await get('/payments/export')).status).toBe(429);
    });
  });
}
