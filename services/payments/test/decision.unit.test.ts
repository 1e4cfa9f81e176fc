import { noOptions } from '@quittance/contracts/api/creation.ts';
import { describe, expect, test } from '@jest/globals';
import {
  decide,
  inexactCandidates,
  isClaimedBy,
  paysInFull,
  slotSearchOf,
  type Decision,
} from '../src/settlement/decision.ts';
import type { PaymentRow } from '../src/payment/payment.sql.ts';
import type { TransferRow } from '../src/settlement/transfer.sql.ts';

const at = (time: string): Date => new Date(`2026-03-01T${time}Z`);

/** Waits for 10 USDT from 12:00:00 to 12:30:00 by default. */
const payment = (change: Partial<PaymentRow> = {}): PaymentRow => ({
  payment_id: 'pay_1',
  merchant_id: 'mer_1',
  public_token: 'token',
  status: 'PENDING',
  network: 'local',
  recipient: '0xwallet',
  amount: '10',
  amount_units: 10_000_000n,
  description: 'Tea',
  created_at: at('12:00:00.000'),
  expires_at: at('12:30:00.000'),
  paid_at: null,
  cancelled_at: null,
  ...noOptions,
  requested_amount: null,
  ...{ rest_seconds: null, released_at: null, derivation_index: null, rate: null },
  ...change,
});

/** Carries 10 USDT at 12:10:00, and has its confirmations, by default. */
const transfer = (change: Partial<TransferRow> = {}): TransferRow => ({
  network: 'local',
  transaction_id: 'ab'.repeat(32),
  transaction_event_index: 0,
  phase: 'confirmed',
  merchant_id: 'mer_1',
  block_hash: '0xblock',
  block_timestamp: at('12:10:00.000'),
  first_seen_at: null,
  live: false,
  is_held: false,
  sender: '0xpayer',
  recipient: '0xwallet',
  amount_units: '10000000',
  decimals: 6,
  match_status: 'pending',
  payment_id: null,
  related_payment_id: null,
  candidates: null,
  reason: null,
  notified: false,
  counted: false,
  ...change,
});

const nobody = () => Promise.resolve([]);
const found = (rows: PaymentRow[]) => () => Promise.resolve(rows);
const neverAsked = () => Promise.reject(new Error('the wallet was searched'));

/** The decision for an unmatched transfer: the only payment it may be for, or several. */
const unmatched = (related: string | null | string[], reason: string | null): Decision => ({
  assignment: {
    payment_id: null,
    related_payment_id: Array.isArray(related) ? null : related,
    candidates: Array.isArray(related) ? related : null,
    reason,
  } as Decision['assignment'],
  move: null,
});

describe('a transfer that a payment of its slot claims', () => {
  test.each(['PENDING', 'CHECKING', 'EXPIRED', 'CANCELLED'] as const)(
    'pays it once it is confirmed, when the payment is %s',
    async (status) => {
      const waiting = payment({ status, ...(status === 'CANCELLED' && { cancelled_at: at('12:20:00.000') }) });
      const own = transfer({ payment_id: 'pay_1' });
      expect(await decide(own, [waiting], neverAsked)).toEqual({
        assignment: { payment_id: 'pay_1' },
        move: { payment: waiting, to: 'PAID' },
      });
    },
  );

  test('moves a PENDING payment to CHECKING while it is only seen, and a CHECKING one no further', async () => {
    const waiting = payment();
    const seen = transfer({ phase: 'seen' });
    expect(await decide(seen, [waiting], neverAsked)).toEqual({
      assignment: { payment_id: 'pay_1' },
      move: { payment: waiting, to: 'CHECKING' },
    });
    const checked = payment({ status: 'CHECKING' });
    expect(await decide({ ...seen, payment_id: 'pay_1' }, [checked], neverAsked)).toEqual({
      assignment: { payment_id: 'pay_1' },
      move: null,
    });
  });

  test.each(['EXPIRED', 'CANCELLED'] as const)(
    'is kept for a payment that is %s while it is only seen, and changes nothing yet',
    async (status) => {
      const closed = payment({ status, ...(status === 'CANCELLED' && { cancelled_at: at('12:20:00.000') }) });
      expect(await decide(transfer({ phase: 'seen' }), [closed], neverAsked)).toEqual(unmatched('pay_1', null));
    },
  );

  test.each(['PENDING', 'EXPIRED', 'CANCELLED'] as const)(
    'pays none that is %s while it is not published, and names it',
    async (status) => {
      const claims = payment({ status, ...(status === 'CANCELLED' && { cancelled_at: at('12:20:00.000') }) });
      const decision = await decide(transfer({ is_held: true }), [claims], neverAsked);
      expect(decision).toEqual({ ...unmatched('pay_1', null), isOpen: true });
    },
  );

  test('is a duplicate for a payment that is PAID, or that another transfer is about to pay', async () => {
    for (const status of ['PAID', 'CHECKING'] as const) {
      const decided = await decide(transfer({ payment_id: 'pay_other' }), [payment({ status })], neverAsked);
      expect(decided).toEqual(unmatched('pay_1', 'duplicate'));
    }
    // PAID is final, no matter who paid it.
    const paid = payment({ status: 'PAID' });
    expect(await decide(transfer({ payment_id: 'pay_1' }), [paid], neverAsked)).toEqual(
      unmatched('pay_1', 'duplicate'),
    );
  });

  test('is claimed by that one alone', () => {
    const waiting = payment();
    expect(isClaimedBy(waiting, transfer(), [waiting])).toBe(true);
    expect(isClaimedBy(payment({ payment_id: 'pay_2' }), transfer(), [waiting])).toBe(false);
    expect(isClaimedBy(waiting, transfer({ block_timestamp: at('12:40:00.000') }), [waiting])).toBe(false);
  });
});

describe('a transfer that brings no money', () => {
  test.each([
    ['retracted', { phase: 'retracted' }],
    ['from the wallet to itself', { sender: '0xwallet' }],
  ] as const)('because it is %s pays nothing and belongs to no payment', async (_, change) => {
    const waiting = payment();
    expect(isClaimedBy(waiting, transfer(change), [waiting])).toBe(false);
    expect(await decide(transfer(change), [waiting], neverAsked)).toEqual(unmatched(null, null));
    // It is not an underpaid or late one either.
    expect(await decide(transfer(change), [payment({ status: 'EXPIRED' })], neverAsked)).toEqual(unmatched(null, null));
    expect(slotSearchOf(transfer(change))).toBeNull();
  });
});

describe('a transfer that several payments of its slot may have been paid with', () => {
  const slot = [
    payment({ payment_id: 'pay_a', status: 'CANCELLED', cancelled_at: at('12:10:00.200') }),
    payment({ payment_id: 'pay_b', created_at: at('12:10:00.400'), expires_at: at('12:40:00.400') }),
  ];
  const soon = transfer({ block_timestamp: at('12:10:02.000') });

  test.each(['seen', 'confirmed'] as const)('pays none of them and names all, %s', async (phase) => {
    expect(await decide({ ...soon, phase }, slot, neverAsked)).toEqual(unmatched(['pay_a', 'pay_b'], 'ambiguous'));
  });

  test('names the one that is left when the others are PAID', async () => {
    const paid = slot.map((one, position) => (position === 0 ? { ...one, status: 'PAID' as const } : one));
    const lagging = transfer({
      ...{ block_timestamp: at('12:09:00.000'), first_seen_at: at('12:10:20.000'), live: true },
    });
    expect(await decide(lagging, paid, neverAsked)).toEqual(unmatched('pay_b', 'ambiguous'));
  });

  test('pays the newest of one order', async () => {
    const one = slot.map((each) => ({ ...each, order_id: 'order 7' }));
    expect(await decide(soon, one, neverAsked)).toMatchObject({
      assignment: { payment_id: 'pay_b' },
      move: { payment: one[1], to: 'PAID' },
    });
  });
});

describe('a transfer that no payment of its slot claims', () => {
  const over = (name: string, change: Partial<PaymentRow> = {}) =>
    payment({ payment_id: name, status: 'EXPIRED', ...change });

  test('belongs to no payment when the wallet was never used', async () => {
    expect(await decide(transfer(), [], nobody)).toEqual(unmatched(null, null));
  });

  test('is late for the last payment of the slot that began before it came, not for a later one', async () => {
    const slot = [
      over('pay_first', { created_at: at('10:00:00.000'), expires_at: at('10:30:00.000') }),
      over('pay_last', { created_at: at('11:30:00.000'), expires_at: at('12:00:00.000') }),
      payment({ payment_id: 'pay_after', created_at: at('12:20:00.000'), expires_at: at('12:50:00.000') }),
    ];
    expect(await decide(transfer(), slot, neverAsked)).toEqual(unmatched('pay_last', 'late'));
  });

  test('has no reason while that payment waits: no merchant is notified that it is late before the payment ends', async () => {
    const late = transfer({ block_timestamp: at('12:30:05.000') });
    expect(await decide(late, [payment()], neverAsked)).toEqual({ ...unmatched(null, null), isOpen: true });
    expect(await decide(late, [over('pay_1')], neverAsked)).toEqual(unmatched('pay_1', 'late'));
  });

  test('is a duplicate once that payment is paid, or is about to be, and after_cancel for a cancelled one', async () => {
    const late = transfer({ block_timestamp: at('12:30:05.000') });
    for (const status of ['PAID', 'CHECKING'] as const)
      expect(await decide(late, [payment({ status })], neverAsked)).toEqual(unmatched('pay_1', 'duplicate'));
    const cancelled = payment({ status: 'CANCELLED', cancelled_at: at('12:10:00.900') });
    expect(await decide(transfer(), [cancelled], neverAsked)).toEqual(unmatched('pay_1', 'after_cancel'));
  });

  test('never belongs to a payment that was created after it was first seen', async () => {
    const waiting = payment({ created_at: at('12:10:00.700'), expires_at: at('12:40:00.700') });
    const known = transfer({ first_seen_at: at('12:10:00.699') });
    expect(await decide(known, [waiting], nobody)).toEqual(unmatched(null, null));
    expect(await decide({ ...known, first_seen_at: waiting.created_at }, [waiting], neverAsked)).toMatchObject({
      move: { to: 'PAID' },
    });
  });

  test('is late for the two last payments when the customer of either may have paid', async () => {
    const slot = (change: Partial<PaymentRow> = {}, ofLast: Partial<PaymentRow> = {}) => [
      over('pay_first', { created_at: at('11:00:00.000'), expires_at: at('11:30:00.000'), ...change }),
      over('pay_last', { created_at: at('11:35:00.000'), expires_at: at('12:05:00.000'), ...ofLast }),
    ];
    expect(await decide(transfer(), slot(), neverAsked)).toEqual(unmatched(['pay_last', 'pay_first'], 'late'));
    // Not when the earlier one ended more than an hour before, was paid, or both are one order.
    const alone = unmatched('pay_last', 'late');
    const longAgo = { created_at: at('10:30:00.000'), expires_at: at('11:09:59.999') };
    expect(await decide(transfer(), slot(longAgo), neverAsked)).toEqual(alone);
    expect(await decide(transfer(), slot({ status: 'PAID' }), neverAsked)).toEqual(alone);
    const order = { order_id: 'order 7' };
    expect(await decide(transfer(), slot(order, order), neverAsked)).toEqual(alone);
    // Nor when the later one has it as a duplicate.
    expect(await decide(transfer(), slot({}, { status: 'PAID' }), neverAsked)).toEqual(
      unmatched('pay_last', 'duplicate'),
    );
  });

  test('belongs to the payment that requested its amount in the last 24 hours, before any inexact payment', async () => {
    const near = payment({ payment_id: 'pay_near', amount_units: 10_000_001n });
    const ended = (time: string) => [over('pay_1', { created_at: at('00:00:00.000'), expires_at: at(time) })];
    const nextDay = { block_timestamp: new Date('2026-03-02T06:00:00Z') };
    const waiting = {
      ...near,
      created_at: new Date('2026-03-02T05:50:00Z'),
      expires_at: new Date('2026-03-02T06:20:00Z'),
    };
    expect(await decide(transfer(nextDay), ended('06:00:00.001'), found([waiting]))).toEqual(
      unmatched('pay_1', 'late'),
    );
    expect(await decide(transfer(nextDay), ended('06:00:00.000'), found([waiting]))).toEqual(
      unmatched('pay_near', 'underpaid'),
    );
    // It is still late for it when it is no other payment's.
    expect(await decide(transfer(nextDay), ended('06:00:00.000'), nobody)).toEqual(unmatched('pay_1', 'late'));
  });
});

describe('a transfer of another amount', () => {
  const named = (units: bigint, change: Partial<PaymentRow> = {}) =>
    payment({ payment_id: `pay_${units}`, amount_units: units, ...change });
  const decided = (candidates: PaymentRow[], change: Partial<TransferRow> = {}) =>
    decide(transfer(change), [], found(candidates));

  test('may be for every payment that waited on its wallet for half of it to twice as much, the nearest first', async () => {
    const all = [14_000_000n, 11_000_000n, 8_000_000n, 20_000_000n, 5_000_000n].map((units) => named(units));
    expect(await decided(all)).toEqual(
      unmatched(['pay_11000000', 'pay_8000000', 'pay_14000000', 'pay_5000000', 'pay_20000000'], 'underpaid'),
    );
    expect(await decided([named(20_000_001n), named(8_000_000n)])).toEqual(unmatched('pay_8000000', 'overpaid'));
    expect(await decided([named(4_999_999n), named(12_000_000n)])).toEqual(unmatched('pay_12000000', 'underpaid'));
  });

  test('equally near to two payments names both', async () => {
    expect(await decided([named(12_000_000n), named(8_000_000n)])).toEqual(
      unmatched(['pay_12000000', 'pay_8000000'], 'underpaid'),
    );
  });

  test('with no near amount may be for all payments for which it is not dust', async () => {
    expect(await decided([named(1_000_000_000n), named(500_000_000n), named(1_000_000_001n)])).toEqual(
      unmatched(['pay_500000000', 'pay_1000000000'], 'underpaid'),
    );
  });

  test('is not for a paid payment while another may need it', async () => {
    const paid = named(10_500_000n, { status: 'PAID' });
    expect(await decided([paid, named(12_000_000n)])).toEqual(unmatched('pay_12000000', 'underpaid'));
    // Not even when the other asks for an amount that is far from it.
    expect(await decided([paid, named(100_000_000n)])).toEqual(unmatched('pay_100000000', 'underpaid'));
    expect(await decided([paid])).toEqual(unmatched('pay_10500000', 'underpaid'));
  });

  test('may be for one that ended less than 24 hours before, and not for one that was created after it was seen', async () => {
    const ended = named(11_000_000n, { status: 'EXPIRED', expires_at: at('12:05:00.000') });
    expect(await decided([ended])).toEqual(unmatched('pay_11000000', 'underpaid'));
    const nextDay = { block_timestamp: new Date('2026-03-02T12:05:00Z') };
    expect(await decided([ended], nextDay)).toEqual(unmatched(null, null));
    const later = named(11_000_000n, { created_at: at('12:10:05.000') });
    expect(await decided([later], { first_seen_at: at('12:10:04.999') })).toEqual(unmatched(null, null));
    expect(await decided([later], { first_seen_at: at('12:10:05.000') })).toEqual(
      unmatched('pay_11000000', 'underpaid'),
    );
  });

  test('names at most twenty', async () => {
    const all = Array.from({ length: 30 }, (_, n) => named(10_000_001n + BigInt(n)));
    const { assignment } = await decided(all);
    expect(assignment).toMatchObject({ candidates: all.slice(0, 20).map(({ payment_id: id }) => id) });
  });

  test('with a fraction that no payment can ask for is compared in the units of the token', async () => {
    expect(await decided([payment()], { amount_units: '10000000000000000001', decimals: 18 })).toEqual(
      unmatched('pay_1', 'overpaid'),
    );
  });

  test('is never for a payment of exactly its amount: that one would have claimed it', () => {
    expect(inexactCandidates([payment()], transfer())).toEqual([]);
  });

  test('that lacks the digits of a unique amount may be for any payment with that price', async () => {
    const unique = [named(10_003_700n), named(10_009_900n)].map((one) => ({ ...one, requested_amount: '10.00' }));
    expect(await decided(unique)).toEqual(unmatched(['pay_10003700', 'pay_10009900'], 'underpaid'));
  });
});

describe('where a transfer looks for its payment', () => {
  test('at its amount in millionths, among those created until its interval ends', () => {
    const found = slotSearchOf(transfer({ amount_units: '10000000000000000000', decimals: 18 }));
    expect(found).toEqual({
      network: 'local',
      recipient: '0xwallet',
      amountUnits: 10_000_000n,
      startedBefore: at('12:10:01.000'),
      createdBefore: at('12:10:16.000'),
    });
    expect(slotSearchOf(transfer({ first_seen_at: at('12:10:48.300'), live: true }))).toMatchObject({
      startedBefore: at('12:10:01.000'),
      createdBefore: at('12:10:49.000'),
    });
    // The chain's clock is ahead. A payment that began after the first reading can only end another payment's window.
    expect(slotSearchOf(transfer({ first_seen_at: at('12:09:10.300'), live: true }))).toMatchObject({
      startedBefore: at('12:09:10.301'),
      createdBefore: at('12:10:01.000'),
    });
  });

  test('nowhere when it has a fraction of a millionth, or is more than the maximum amount', () => {
    expect(slotSearchOf(transfer({ amount_units: '10000000000000000001', decimals: 18 }))).toBeNull();
    expect(slotSearchOf(transfer({ amount_units: String(10n ** 18n - 1n) }))).toMatchObject({
      amountUnits: 10n ** 18n - 1n,
    });
    expect(slotSearchOf(transfer({ amount_units: String(10n ** 18n) }))).toBeNull();
  });
});

describe('paying in full', () => {
  test('takes the whole amount in the units of the token, at the wallet of the payment, on the chain', () => {
    expect(paysInFull(transfer(), payment())).toBe(true);
    expect(paysInFull(transfer({ amount_units: '10000000000000000000', decimals: 18 }), payment())).toBe(true);
    expect(paysInFull(transfer({ phase: 'seen' }), payment())).toBe(true);
    expect(paysInFull(transfer({ phase: 'retracted' }), payment())).toBe(false);
    expect(paysInFull(transfer({ amount_units: '9999999' }), payment())).toBe(false);
    expect(paysInFull(transfer({ amount_units: '10000001' }), payment())).toBe(false);
    expect(paysInFull(transfer({ recipient: '0xother' }), payment())).toBe(false);
  });
});
