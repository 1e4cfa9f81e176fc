import { describe, expect, test } from '@jest/globals';
import { decide, endOfLag, matchOf, paysInFull, slotSearchOf, type Decision } from '../src/settlement/decision.ts';
import type { PaymentRow } from '../src/store/payment.ts';
import type { TransferRow } from '../src/store/transfer.ts';

const at = (time: string): Date => new Date(`2026-03-01T${time}Z`);

/** Waits for 10 USDT from 12:00:00 to 12:30:00 unless said otherwise. */
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
  order_id: null,
  metadata: null,
  return_url: null,
  requested_amount: null,
  ...change,
});

/** Carries 10 USDT at 12:10:00, and has its confirmations, unless said otherwise. */
const transfer = (change: Partial<TransferRow> = {}): TransferRow => ({
  network: 'local',
  transaction_id: 'ab'.repeat(32),
  transaction_event_index: 0,
  phase: 'confirmed',
  merchant_id: 'mer_1',
  block_hash: '0xblock',
  block_timestamp: at('12:10:00.000'),
  sender: '0xpayer',
  recipient: '0xwallet',
  amount_units: '10000000',
  decimals: 6,
  match_status: 'pending',
  payment_id: null,
  related_payment_id: null,
  reason: null,
  ...change,
});

const nobody = () => Promise.resolve([]);
const neverAsked = () => Promise.reject(new Error('the wallet was searched'));
const unmatched = (related: string | null, reason: string | null): Decision => ({
  assignment: { payment_id: null, related_payment_id: related, reason } as Decision['assignment'],
  move: null,
});

describe('a transfer that fits a payment of its slot', () => {
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

  test('is a duplicate for a payment that is PAID, or that another transfer is about to pay', async () => {
    for (const status of ['PAID', 'CHECKING'] as const) {
      const decided = await decide(transfer({ payment_id: 'pay_other' }), [payment({ status })], neverAsked);
      expect(decided).toEqual(unmatched('pay_1', 'duplicate'));
    }
    // PAID by itself is the end, whoever paid it.
    const paid = payment({ status: 'PAID' });
    expect(await decide(transfer({ payment_id: 'pay_1' }), [paid], neverAsked)).toEqual(
      unmatched('pay_1', 'duplicate'),
    );
  });

  test('of another phase than retracted is matched; a retracted one pays nothing and belongs to nobody', async () => {
    const waiting = payment();
    expect(matchOf(transfer(), [waiting])).toBe(waiting);
    expect(matchOf(transfer({ phase: 'retracted' }), [waiting])).toBeNull();
    expect(await decide(transfer({ phase: 'retracted' }), [waiting], neverAsked)).toEqual(unmatched(null, null));
  });
});

describe('a transfer that fits none of its slot', () => {
  test('belongs to nobody where nobody has used the wallet', async () => {
    expect(await decide(transfer(), [], nobody)).toEqual(unmatched(null, null));
  });

  test('is late for the last payment of the slot that started before its block, not for a later one', async () => {
    const slot = [
      payment({ payment_id: 'pay_first', created_at: at('11:00:00.000'), expires_at: at('11:30:00.000') }),
      payment({ payment_id: 'pay_last', created_at: at('11:30:00.000'), expires_at: at('12:00:00.000') }),
      payment({ payment_id: 'pay_after', created_at: at('12:20:00.000'), expires_at: at('12:50:00.000') }),
    ];
    expect(await decide(transfer(), slot, nobody)).toEqual(unmatched('pay_last', 'late'));
  });

  test('in the second of the creation has that payment before it, in the second before it has not', async () => {
    const cancelled = payment({
      created_at: at('12:10:00.900'),
      cancelled_at: at('12:10:00.950'),
      status: 'CANCELLED',
    });
    expect(await decide(transfer(), [cancelled], nobody)).toEqual(unmatched('pay_1', 'after_cancel'));
    const next = payment({ created_at: at('12:10:01.000'), cancelled_at: at('12:10:01.000'), status: 'CANCELLED' });
    // It started a second after the block, and is no earlier payment that the money could be late for.
    const other = payment({ payment_id: 'pay_other', amount_units: 9_000_000n, expires_at: at('12:05:00.000') });
    expect(
      await decide(transfer({ block_timestamp: at('11:00:00.000') }), [next], () => Promise.resolve([other])),
    ).toEqual(unmatched('pay_other', 'overpaid'));
  });

  test('was meant for the payment on its wallet that waited with the nearest amount, above or below', async () => {
    const candidates = [
      payment({ payment_id: 'pay_far', amount_units: 14_000_000n }),
      payment({ payment_id: 'pay_near', amount_units: 11_000_000n }),
      payment({ payment_id: 'pay_below', amount_units: 8_000_000n }),
    ];
    const found = (rows: PaymentRow[]) => () => Promise.resolve(rows);
    expect(await decide(transfer(), [], found(candidates))).toEqual(unmatched('pay_near', 'underpaid'));
    expect(await decide(transfer(), [], found(candidates.toReversed()))).toEqual(unmatched('pay_near', 'underpaid'));
    const below = candidates.filter(({ payment_id: id }) => id !== 'pay_near');
    expect(await decide(transfer(), [], found(below))).toEqual(unmatched('pay_below', 'overpaid'));
    expect(await decide(transfer(), [], found(below.toReversed()))).toEqual(unmatched('pay_below', 'overpaid'));
  });

  test('of two payments equally near the first counts', async () => {
    const [above, below] = [12_000_000n, 8_000_000n].map((units) =>
      payment({ payment_id: `pay_${units}`, amount_units: units }),
    );
    expect(await decide(transfer(), [], () => Promise.resolve([above!, below!]))).toEqual(
      unmatched('pay_12000000', 'underpaid'),
    );
    expect(await decide(transfer(), [], () => Promise.resolve([below!, above!]))).toEqual(
      unmatched('pay_8000000', 'overpaid'),
    );
  });

  test('with a fraction that no payment can ask for was meant for the nearest all the same', async () => {
    const fraction = transfer({ amount_units: '10000000000000000001', decimals: 18 });
    expect(await decide(fraction, [], () => Promise.resolve([payment()]))).toEqual(unmatched('pay_1', 'overpaid'));
  });

  test('where none waited was meant for the first that was found, whatever its amount', async () => {
    const over = { created_at: at('11:00:00.000'), expires_at: at('11:30:00.000') };
    const candidates = [
      payment({ payment_id: 'pay_first', amount_units: 50_000_000n, ...over }),
      payment({ payment_id: 'pay_near', amount_units: 11_000_000n, ...over }),
    ];
    expect(await decide(transfer(), [], () => Promise.resolve(candidates))).toEqual(
      unmatched('pay_first', 'underpaid'),
    );
  });

  test('that left out the added digits was meant for the payment that asked for the bare price', async () => {
    const bare = payment({ payment_id: 'pay_bare', created_at: at('11:00:00.000'), expires_at: at('11:30:00.000') });
    const unique = payment({
      payment_id: 'pay_unique',
      amount: '10.0037',
      amount_units: 10_003_700n,
      requested_amount: '10.00',
    });
    const nearer = payment({ payment_id: 'pay_nearer', amount_units: 10_000_001n });
    const other = payment({ payment_id: 'pay_other', amount_units: 10_000_050n, requested_amount: '11.00' });
    const candidates = () => Promise.resolve([nearer, other, unique]);
    expect(await decide(transfer(), [bare], candidates)).toEqual(unmatched('pay_unique', 'underpaid'));
    // One that is PAID, or that did not wait then, was not meant: the late one is.
    for (const change of [{ status: 'PAID' as const }, { expires_at: at('12:05:00.000') }]) {
      const decided = await decide(transfer(), [bare], () => Promise.resolve([{ ...unique, ...change }]));
      expect(decided).toEqual(unmatched('pay_bare', 'late'));
    }
  });
});

describe('where a transfer looks for its payment', () => {
  test('at its amount in millionths, among those created up to 15 s after its block', () => {
    const found = slotSearchOf(transfer({ amount_units: '10000000000000000000', decimals: 18 }));
    expect(found).toEqual({
      network: 'local',
      recipient: '0xwallet',
      amountUnits: 10_000_000n,
      startedBefore: at('12:10:01.000'),
      createdBefore: at('12:10:15.000'),
    });
    expect(endOfLag(transfer())).toEqual(at('12:10:15.000'));
  });

  test('nowhere when it is retracted, has a fraction of a millionth, or is more than a payment may ask', () => {
    expect(slotSearchOf(transfer({ phase: 'retracted' }))).toBeNull();
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
