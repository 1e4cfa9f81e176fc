import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { paymentStatuses } from '@quittance/contracts/api/payment.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { query } from '@quittance/contracts/query.ts';
import { newId, sha256 } from '@quittance/contracts/ids.ts';
import { readCursor, writeCursor, type Cursor } from '@quittance/contracts/http/payments/payments.ts';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { anything, isSearch, listPayments, type ListFilter } from '../src/payment/list.sql.ts';
import { searchPayments } from '../src/payment/search.sql.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { insertPast, pastPayment, type PastPayment } from './finding-fixtures.ts';

/** The real service, and its searches on the same database with limits that a few hundred payments reach. */
let payments: PaymentsUnderTest;
let all: Stored[];
beforeAll(async () => {
  payments = await startPayments();
  all = await insertRandom();
});
afterAll(() => payments.close());

type Stored = PastPayment & { requested_amount: string | null };

const MERCHANTS = ['one', 'two', 'three', 'of nothing'].map(() => newId('mer'));
const NETWORKS = ['local', 'other'];
const START = Date.parse('2026-03-01T00:00:00Z');
const DAY_MS = 86_400_000;
const DAYS = 5;
const COUNT = 300;

const DESCRIPTIONS = [
  ...[
    'Two tickets',
    'two TICKETS, one dog',
    '100% wool',
    '100 % wool',
    'size_M',
    'sizeXM',
    'back\\slash',
    'C:\\%temp%',
  ],
  ...["it's a 'gift'", 'a "quoted" text', '; drop table payment; --', 'עשרים כרטיסים', 'تذكرتان', 'Zwei Brötchen', 'x'],
  ...['49.9', 'چای 2', '𝒯ea', `${'long '.repeat(99)}tail`],
];
const ORDERS = [null, null, 'A-1', 'A-10', 'A-100', 'a-1', '49.90', '%', 'A_1', 'B\\1'];
const AMOUNTS = [1, 49_900_000, 49_900_001, 49_900_317, 50_000_000, 100_000_000, 999_999_999_000_000];
const REQUESTED = [null, null, '49.90', '49.9', '50'];

/** The same rows in each run, so that a failure is repeated by its seed alone. Many share a millisecond. */
async function insertRandom(): Promise<Stored[]> {
  const rows = Array.from({ length: COUNT }, (_, n): Stored => {
    const dice = sha256(`row ${n}`);
    const pick = <T>(place: number, list: readonly T[]): T => list[dice[place]! % list.length] as T;
    const created_at = new Date(START + (dice[0]! % DAYS) * DAY_MS + (dice[1]! % 7));
    return {
      ...pastPayment({
        ...{ merchant_id: pick(2, MERCHANTS.slice(0, 3)), created_at, status: pick(3, paymentStatuses) },
        ...{ network: pick(4, NETWORKS), description: pick(5, DESCRIPTIONS), order_id: pick(6, ORDERS) },
        amount_units: pick(7, AMOUNTS),
      }),
      requested_amount: pick(8, REQUESTED),
    };
  });
  await insertPast(payments.db, rows);
  return rows;
}

const inAnyCase = (text: string): string => text.toLowerCase();

/** The rules once more, on the rows themselves. */
function matches({ text, amountMin, amountMax, ...filter }: ListFilter, row: Stored): boolean {
  const units = text === null ? null : parseAmount(text);
  const asked = row.requested_amount === null ? null : parseAmount(row.requested_amount);
  const own = BigInt(row.amount_units);
  return (
    (text === null ||
      inAnyCase(row.description).includes(inAnyCase(text)) ||
      (row.order_id?.startsWith(text) ?? false) ||
      (units !== null && (own === units || asked === units))) &&
    (amountMin === null || own >= amountMin) &&
    (amountMax === null || own <= amountMax) &&
    (filter.status === null || row.status === filter.status) &&
    (filter.network === null || row.network === filter.network) &&
    (filter.orderId === null || row.order_id === filter.orderId) &&
    (filter.createdFrom === null || row.created_at >= filter.createdFrom) &&
    (filter.createdTo === null || row.created_at < filter.createdTo) &&
    (filter.paidFrom === null || (row.paid_at !== null && row.paid_at >= filter.paidFrom))
  );
}

/** Times have one length and ids are hexadecimal, so the order of the texts is that of the list. */
const orderOf = ({ created_at, payment_id }: Stored, ofAll: boolean): string =>
  ofAll ? payment_id : `${created_at.toISOString()} ${payment_id}`;

const expected = (merchants: readonly string[] | null, filter: ListFilter, rows: readonly Stored[] = all): string[] =>
  rows
    .filter((row) => (merchants?.includes(row.merchant_id) ?? true) && matches(filter, row))
    .sort((one, other) => (orderOf(one, merchants === null) < orderOf(other, merchants === null) ? 1 : -1))
    .map(({ payment_id: id }) => id);

type Walk = {
  merchants: readonly string[] | null;
  filter: ListFilter;
  limit: number;
  most: number;
  between?: () => Promise<unknown>;
};

/** Every page of a search, or of a list of one merchant that an index answers. @returns the ids, in their order. */
async function walk({ merchants, filter, limit, most, between }: Walk): Promise<string[]> {
  const seen: string[] = [];
  let after: Cursor | null = null;
  const [only, ...others] = merchants ?? [];
  for (let pages = 0; pages === 0 || after !== null; pages += 1) {
    expect(pages).toBeLessThan(COUNT * 2);
    const page: Awaited<ReturnType<typeof searchPayments>> =
      only !== undefined && others.length === 0 && !isSearch(filter)
        ? {
            ...(await listPayments(payments.db, only, {
              ...{ networks: NETWORKS, filter, part: { after, limit, order: 'newest first' } },
            })),
            searchedTo: null,
          }
        : await searchPayments(payments.db, { merchants, filter, after, limit }, most);
    expect(page.payments.length).toBeLessThanOrEqual(limit);
    // A page that is not full is the last one, or says how far it has looked.
    if (page.payments.length < limit) expect(page.searchedTo).toEqual(page.next?.createdAt ?? null);
    else expect(page.searchedTo).toBeNull();
    seen.push(...page.payments.map(({ payment_id: id }) => id));
    after = page.next;
    await between?.();
  }
  return seen;
}

const rarely = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { freq: 2, nil: null });
const times = fc.integer({ min: 0, max: DAYS * 10 }).map((tenth) => new Date(START + (tenth / 10) * DAY_MS));
const texts = fc.oneof(
  fc.constantFrom(...DESCRIPTIONS, ...ORDERS.filter((order) => order !== null)),
  fc.constantFrom(
    '49.9',
    '49.90',
    '50',
    '0.000001',
    '49.900317',
    'ticket',
    'TICKETS',
    '%',
    '_',
    '\\',
    "'",
    '%wool',
    'zzz',
  ),
  fc
    .tuple(fc.constantFrom(...DESCRIPTIONS), fc.nat(20), fc.integer({ min: 1, max: 10 }))
    .map(([text, from, length]) => text.slice(from, from + length).trim())
    .filter((text) => text !== '' && text.isWellFormed()),
);
const amounts = fc.constantFrom(...AMOUNTS).map(BigInt);
const filters = fc.record({
  status: rarely(fc.constantFrom(...paymentStatuses)),
  network: rarely(fc.constantFrom(...NETWORKS, 'unknown')),
  createdFrom: rarely(times),
  createdTo: rarely(times),
  paidFrom: rarely(times),
  orderId: fc.option(fc.constantFrom('A-1', 'A'), { freq: 8, nil: null }),
  text: rarely(texts),
  amountMin: rarely(amounts),
  amountMax: rarely(amounts),
});
const subjects = fc.oneof(
  fc.constant(null),
  fc.constantFrom(...MERCHANTS).map((one) => [one]),
  fc.subarray(MERCHANTS, { minLength: 2 }),
);
const walks = fc.record({
  merchants: subjects,
  filter: filters.map((filter) => ({ ...anything, ...filter })),
  limit: fc.integer({ min: 1, max: 40 }),
  most: fc.integer({ min: 1, max: 60 }),
});

test('any filters together list what the plain rules list, once and in order, for one merchant, some, and all', async () => {
  const filtersSeen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(walks, async (one) => {
      const ids = expected(one.merchants, one.filter);
      if (ids.length > 0)
        for (const [name, value] of Object.entries(one.filter)) if (value !== null) filtersSeen.add(name);
      expect(await walk(one)).toEqual(ids);
    }),
    { numRuns: amountOf({ short: 150, long: 3_000 }), seed: seedOf(77) },
  );
  // Else some filter would only ever have listed nothing.
  expect([...filtersSeen].sort()).toEqual(
    ['status', 'network', 'createdFrom', 'createdTo', 'paidFrom', 'orderId', 'text', 'amountMin', 'amountMax'].sort(),
  );
});

test('a walk finds every payment once while new ones come in', async () => {
  const [merchant] = MERCHANTS as [string];
  for (const merchants of [null, [merchant], MERCHANTS]) {
    const filter = { ...anything, text: 't', createdTo: new Date(START + DAYS * DAY_MS + 1) };
    const known = new Set(all.map(({ payment_id: id }) => id));
    const came: Stored[] = [];
    const between = async () => {
      const created_at = new Date(START + DAYS * DAY_MS);
      const fresh = MERCHANTS.map((id) => ({
        ...pastPayment({ merchant_id: id, created_at, description: 'tea' }),
        requested_amount: null,
      }));
      came.push(...fresh);
      await insertPast(payments.db, fresh);
    };
    const seen = await walk({ merchants, filter, limit: 5, most: 20, between });
    expect(came.length).toBeGreaterThan(10);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => known.has(id))).toEqual(expected(merchants, filter));
    await payments.db.query('delete from payment where payment_id = any($1)', [came.map(({ payment_id: id }) => id)]);
  }
});

describe('through the service', () => {
  type Page = {
    payments: { payment_id: string; merchant_id?: string }[];
    next_cursor: string | null;
    searched_to?: string | null;
  };
  const ask = async (path: string, given: Record<string, string>) =>
    payments.call<Page>('GET', `${path}?${new URLSearchParams(given).toString()}`);
  const idsOf = ({ json }: { json: Page }) => json.payments.map(({ payment_id: id }) => id);
  const ofMerchant = (id: string) => `/merchants/${id}/payments`;

  test.each([
    ...['%', '_', '\\', "'", '"', '%%%', "' or 1=1 --", '\\%', '100% wool', 'size_M', 'C:\\%temp%', 'עשרים כרטיסים'],
    ...[
      '\u202eכרטיסים',
      'تذكرتان',
      '𝒯ea',
      'x'.repeat(500),
      `${'long '.repeat(99)}tail`,
      '$1',
      '{}',
      ' \t two ',
      '49.9',
      '49.90',
      '0.000001',
    ],
  ])('the text %j means itself', async (text) => {
    const filter = { ...anything, text: query.searchText.parse(text) };
    const listed = await ask('/payment-list', { text, limit: '100' });
    expect([listed.status, idsOf(listed)]).toEqual([200, expected(null, filter).slice(0, 100)]);
    const [merchant] = MERCHANTS as [string];
    const own = await ask(ofMerchant(merchant), { text, limit: '100' });
    expect([own.status, idsOf(own)]).toEqual([200, expected([merchant], filter).slice(0, 100)]);
  });

  test.each([
    ['text', 'a\0b'],
    ['text', '   '],
    ['text', 'x'.repeat(501)],
    ['network', 'lo\0cal'],
    ['amount_min', '-1'],
    ['amount_max', '1e3'],
    ['amount_max', '1'.repeat(30)],
    ['merchants', 'mer_1'],
    ['merchants', Array.from({ length: 21 }, () => newId('mer')).join(',')],
    ['limit', '101'],
    ['cursor', 'x'],
  ])('422 for %s=%j', async (field, value) => {
    const refused = await ask('/payment-list', { [field]: value });
    expect(refused.status).toBe(422);
    expect(refused.json.detail).toMatchObject([{ field }]);
  });

  test('a merchant is never shown payments of another one', async () => {
    const [mine, theirs] = MERCHANTS as [string, string];
    const cursor = writeCursor({ createdAt: new Date(START + DAYS * DAY_MS), paymentId: all[0]!.payment_id });
    const owners = new Map(all.map((row) => [row.payment_id, row.merchant_id]));
    for (const given of [{ text: 't' }, { text: 't', merchants: theirs }, { text: 't', cursor }, { amount_min: '1' }]) {
      const { json } = await ask(ofMerchant(mine), { ...given, limit: '100' });
      expect(json.payments.length).toBeGreaterThan(0);
      expect(new Set(json.payments.map(({ payment_id: id }) => owners.get(id)))).toEqual(new Set([mine]));
      expect(json).not.toHaveProperty('payments.0.merchant_id');
    }
  });

  test('a page has 50 payments with their merchants, and its cursor leads on; a plain list says nothing of a search', async () => {
    const { json } = await ask('/payment-list', {});
    expect(json.payments).toHaveLength(50);
    const owners = new Map(all.map((row) => [row.payment_id, row.merchant_id]));
    for (const { payment_id: id, merchant_id: owner } of json.payments) expect(owner).toBe(owners.get(id));
    expect(json.searched_to).toBeNull();
    expect(readCursor(json.next_cursor!)).not.toBeNull();
    const older = await ask('/payment-list', { cursor: json.next_cursor! });
    expect([...idsOf({ json }), ...idsOf(older)]).toEqual(expected(null, anything).slice(0, 100));
    const [merchant] = MERCHANTS as [string];
    expect((await ask(ofMerchant(merchant), {})).json).not.toHaveProperty('searched_to');
  });
});
