import { type Asking, unclaimed } from './candidates.ts';
import { type Arrival, whoseMoney } from './whose-money.ts';

/* How the tests of the model's rules write histories. */

export const at = (time: string): number => Date.parse(`2031-03-11T${time}Z`);
export const MINUTE = 60_000;

/** Waits half an hour unless it is cancelled. By default it is EXPIRED when the clock is past its expiry. */
export function payment(id: string, created: string, change: Partial<Asking> & { cancelled?: string } = {}): Asking {
  const { cancelled, ...rest } = change;
  const createdAt = at(created);
  return {
    ...{ id, merchant: 'one', orderId: id, createdAt, expiresAt: createdAt + 30 * MINUTE, asked: 10n },
    cancelledAt: cancelled === undefined ? null : at(cancelled),
    status: cancelled === undefined ? 'PENDING' : 'CANCELLED',
    ...rest,
  };
}

export const expired = (id: string, ended: string): Asking =>
  payment(id, '00:00:00', { createdAt: at(ended) - 30 * MINUTE, expiresAt: at(ended), status: 'EXPIRED' });

/** Read as soon as it came, on a chain whose clock is correct by default, or this much behind (negative: ahead). */
export const live = (wall: string, secondsBehind = 0): Arrival => ({
  blockTime: Math.floor(at(wall) / 1000) * 1000 - secondsBehind * 1000,
  firstSeen: at(wall),
  live: true,
});
export const found = (block: string, read: string): Arrival => ({
  blockTime: at(block),
  firstSeen: at(read),
  live: false,
});

export function verdict(slot: readonly Asking[], arrival: Arrival): string {
  const whose = whoseMoney(slot, arrival);
  if ('pays' in whose) return `pays ${whose.pays.id}, ${whose.by}`;
  if ('among' in whose)
    return `${whose.among
      .map(({ id }) => id)
      .toReversed()
      .join(' and ')}, ${whose.by}`;
  const left = unclaimed(slot, arrival);
  return left === null ? 'nobody' : `${left.reason} for ${left.among.map(({ id }) => id).join()}`;
}
