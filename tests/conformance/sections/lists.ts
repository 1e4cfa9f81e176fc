import { beforeAll, describe, expect } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { Contract } from '../conformance.test.ts';
import { endWindows } from '../support/access.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { rule } from '../support/rule.ts';

type Page = { payments: Payment[]; next_cursor: string | null };

const CREATED = 101;
/** A third of the rate limit, because a creation that a busy machine answered with 503 is repeated and counts again. */
const CREATIONS_A_WINDOW = 10;

/** GET /payments and GET /payments/page, for a merchant with one payment more than a list shows. */
export function listsSection(contract: Contract): void {
  describe('lists of payments', () => {
    let merchant: Merchant;
    /** In the order of creation, newest first. */
    let newest: Payment[];
    let cancelled: Payment[];

    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
      const created: Payment[] = [];
      for (let first = 0; first < CREATED; first += CREATIONS_A_WINDOW) {
        const many = Math.min(CREATIONS_A_WINDOW, CREATED - first);
        const amounts = Array.from({ length: many }, (_, index) => `${first + index + 1}.10`);
        created.push(...(await Promise.all(amounts.map((amount) => merchant.created({ amount })))));
        await endWindows(contract.stack, merchant);
      }
      const cancel = async ({ payment_id: id }: Payment) =>
        (await merchant.call('POST', `/api/v1/payments/${id}/cancel`)).json<Payment>();
      const chosen = new Map(
        (await Promise.all([3, 50, 97].map((index) => cancel(created[index]!)))).map((payment) => [
          payment.payment_id,
          payment,
        ]),
      );
      newest = created.map((payment) => chosen.get(payment.payment_id) ?? payment).sort(newestFirst);
      cancelled = newest.filter(({ status }) => status === 'CANCELLED');
    }, 120_000);

    const list = async (query = '') => {
      const answer = await merchant.call('GET', `/api/v1/payments${query}`);
      expect([answer.status, Object.keys(answer.json<object>())]).toEqual([200, ['payments']]);
      return answer.json<{ payments: Payment[] }>().payments;
    };
    const page = async (parameters: Record<string, string> = {}) => {
      const answer = await merchant.call('GET', `/api/v1/payments/page?${new URLSearchParams(parameters).toString()}`);
      expect([answer.status, Object.keys(answer.json<object>())]).toEqual([200, ['payments', 'next_cursor']]);
      return answer.json<Page>();
    };
    /** Every page from the first to the last. */
    const walk = async (parameters: Record<string, string>, between: () => Promise<void> = () => Promise.resolve()) => {
      const pages = [await page(parameters)];
      for (let next = pages[0]!.next_cursor; next !== null; next = pages.at(-1)!.next_cursor) {
        await between();
        pages.push(await page({ ...parameters, cursor: next }));
      }
      return pages;
    };

    rule(
      [
        'endpoint.list',
        'payment.payment_id',
        'payment.amount',
        'payment.merchant_wallet',
        'payment.description',
        'payment.payment_url',
      ],
      'the list has the newest hundred payments, newest first, each with every field of its 201',
      async () => {
        expect(await list()).toEqual(newest.slice(0, 100));
      },
    );

    rule(
      ['endpoint.list', 'payment.status'],
      'the list can be limited to one status, and is empty for a merchant without payments',
      async () => {
        expect(cancelled).toHaveLength(3);
        expect(await list('?status=CANCELLED')).toEqual(cancelled);
        expect(await list('?status=PAID')).toEqual([]);
        const other = await openMerchant(contract.stack, { webhook: false });
        expect((await other.call('GET', '/api/v1/payments')).json()).toEqual({ payments: [] });
        expect((await other.call('GET', '/api/v1/payments/page')).json()).toEqual({ payments: [], next_cursor: null });
      },
    );

    rule('endpoint.page', 'a page has 20 payments, or the requested 1 to 100', async () => {
      const [standard, one, hundred] = await Promise.all([page(), page({ limit: '1' }), page({ limit: '100' })]);
      expect(standard).toEqual({ payments: newest.slice(0, 20), next_cursor: expect.any(String) });
      expect(one).toEqual({ payments: newest.slice(0, 1), next_cursor: expect.any(String) });
      expect(hundred).toEqual({ payments: newest.slice(0, 100), next_cursor: expect.any(String) });
      expect(await page({ limit: '100', cursor: hundred.next_cursor! })).toEqual({
        payments: newest.slice(100),
        next_cursor: null,
      });
    });

    rule('endpoint.page', 'a filter applies to every page, and a last page that is full has no next one', async () => {
      const pages = await walk({ status: 'CANCELLED', limit: '1' });
      expect(pages.map(({ payments }) => payments)).toEqual(cancelled.map((payment) => [payment]));
      expect((await page({ status: 'CANCELLED', limit: '3' })).next_cursor).toBeNull();
    });

    rule('endpoint.page', 'created_from is inclusive and created_to is exclusive, in any time zone', async () => {
      const [from, to] = [newest[60]!.created_at, newest[20]!.created_at];
      const expected = newest.filter(({ created_at: at }) => at >= from && at < to);
      const zoned = new Date(Date.parse(from) + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
      for (const start of [from, zoned, from.replace('Z', '000Z')]) {
        const { payments } = await page({ created_from: start, created_to: to, limit: '100' });
        expect(payments).toEqual(expected);
      }
      expect(expected.map(({ payment_id: id }) => id)).toContain(newest[60]!.payment_id);
      expect((await page({ created_from: from, created_to: from })).payments).toEqual([]);
      const filtered = await walk({ created_from: from, created_to: to, limit: '7' });
      expect(filtered.flatMap(({ payments }) => payments)).toEqual(expected);
    });

    rule(['endpoint.list', 'endpoint.page', 'errors.422'], 'bad parameters are 422, each of them named', async () => {
      const bad: [query: string, fields: string[]][] = [
        ['?status=paid', ['status']],
        ['?status=PAID&status=PENDING', ['status']],
        ['/page?limit=0', ['limit']],
        ['/page?limit=101', ['limit']],
        ['/page?limit=1.5', ['limit']],
        ['/page?limit=%2020', ['limit']],
        ['/page?limit=1e1', ['limit']],
        ['/page?limit=-1', ['limit']],
        ['/page?limit=5&limit=5', ['limit']],
        ['/page?cursor=abc', ['cursor']],
        ['/page?cursor=%00', ['cursor']],
        [`/page?cursor=${newest[0]!.payment_id}`, ['cursor']],
        ['/page?created_from=2026-01-31', ['created_from']],
        ['/page?created_from=yesterday', ['created_from']],
        ['/page?created_to=2026-02-30T00:00:00Z', ['created_to']],
        ['/page?created_to=2026-01-31T00:00:00', ['created_to']],
        ['/page?created_to=1769817600', ['created_to']],
        [
          '/page?limit=x&status=x&cursor=x&created_from=x&created_to=x',
          ['created_from', 'created_to', 'cursor', 'limit', 'status'],
        ],
      ];
      const answers = await Promise.all(bad.map(([query]) => merchant.call('GET', `/api/v1/payments${query}`)));
      const found = answers.map((answer, index) => {
        expect([bad[index]![0], answer.status]).toEqual([bad[index]![0], 422]);
        const { detail } = answer.json<{ detail: { field: string; reason: string }[] }>();
        expect(detail).toEqual(
          detail.map(() => ({ field: expect.any(String), reason: expect.stringMatching(/\w+ \w+/) })),
        );
        return [bad[index]![0], detail.map(({ field }) => field).sort()];
      });
      expect(found).toEqual(bad);
    });

    // Last, because it adds payments.
    rule(
      'endpoint.page',
      'pages read while payments are created neither repeat nor skip a payment that existed at the start',
      async () => {
        let amount = 900;
        const pages = await walk({ limit: '25' }, async () => {
          await merchant.created({ amount: `${(amount += 1)}` });
        });
        expect(pages.map(({ payments }) => payments.length)).toEqual([25, 25, 25, 25, 1]);
        expect(pages.flatMap(({ payments }) => payments)).toEqual(newest);
        expect((await page({ limit: '4' })).payments.map((payment) => payment.amount)).toEqual([
          '904',
          '903',
          '902',
          '901',
        ]);
      },
    );
  });
}

function newestFirst(one: Payment, other: Payment): number {
  return other.created_at.localeCompare(one.created_at) || (one.payment_id < other.payment_id ? 1 : -1);
}
