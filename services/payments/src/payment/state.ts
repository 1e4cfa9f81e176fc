import { paymentStatuses, type PaymentStatus } from '@quittance/contracts/api/payment.ts';

/**
 * The whole payment state machine: from each status, the statuses it may become. EXPIRED and CANCELLED become PAID when money is found that
 * came in time. They skip CHECKING, because by then the slot may belong to a newer payment. PAID is final: a person judges anything the
 * chain does afterwards.
 */
export const transitions = {
  PENDING: ['CHECKING', 'PAID', 'CANCELLED', 'EXPIRED'],
  CHECKING: ['PAID', 'PENDING'],
  EXPIRED: ['PAID'],
  CANCELLED: ['PAID'],
  PAID: [],
} as const satisfies Record<PaymentStatus, readonly PaymentStatus[]>;

/** The statuses from which a payment may become `to`. Guards of updates are built from this, so that no statement allows more. */
export function statusesBefore(to: PaymentStatus): PaymentStatus[] {
  return paymentStatuses.filter((from) => (transitions[from] as readonly PaymentStatus[]).includes(to));
}

/** An unfinished payment holds its slot: no other may wait for the same amount on the same address. */
export function isUnfinished(status: PaymentStatus): boolean {
  return status === 'PENDING' || status === 'CHECKING';
}
