import type { PaymentStatus } from '@quittance/contracts/api/payment.ts';

/** How a state is coloured: as it should be, on its way, to be looked at, wrong, or over. */
type Tone = 'good' | 'open' | 'warn' | 'bad' | 'over';

/** A status without a row here does not compile. */
const ofPayments: Record<PaymentStatus, Tone> = {
  ...{ PENDING: 'open', CHECKING: 'open', PAID: 'good', EXPIRED: 'over', CANCELLED: 'over' },
};

const words: Record<Tone, readonly string[]> = {
  good: ['active', 'not paused', 'confirmed', 'delivered', 'following', 'closed', 'working'],
  open: ['seen', 'pending', 'recovering', 'half open', 'unconfirmed'],
  warn: ['paused', 'behind', 'late', 'underpaid', 'overpaid', 'ambiguous', 'duplicate', 'after cancel', 'no payment'],
  bad: ['blocked', 'failed', 'halted', 'retracted', 'open', 'problem'],
  over: ['asleep', 'disabled', 'revoked', 'resolved', 'paid another', 'not activated'],
};

const tones = new Map<string, Tone>([
  ...Object.entries(ofPayments),
  ...Object.entries(words).flatMap(([tone, all]) => all.map((word) => [word, tone as Tone] as const)),
]);

/** The tone of a state; an unknown one is plain. */
export const toneOf = (word: string): Tone | '' => tones.get(word) ?? '';
