import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';

/** The values of `main[data-state]`. */
export const states = ['waiting', 'over', 'arrived', 'frozen', 'seen', 'paid', 'expired', 'cancelled'] as const;
export type State = (typeof states)[number];

export const TRON_WALLET = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
export const EVM_WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

const MINUTE_MS = 60_000;

type Changes = Partial<PublicPayment> &
  Partial<
    Pick<
      CheckoutPayment,
      'confirmations' | 'merchant_id' | 'reference' | 'return_url' | 'lookup' | 'warnings' | 'received'
    >
  > & {
    /** Minutes until the payment expires, on the server's clock. */
    minutesLeft?: number;
  };

/** What payments answers for a payment whose page is in that state now. */
export function checkout(state: State, changes: Changes = {}): CheckoutPayment {
  const { minutesLeft, confirmations, merchant_id = null, reference = 'K7QMX2RD', ...others } = changes;
  const { return_url = null, lookup = null, warnings, received = null, ...payment } = others;
  const now = Date.now();
  const left = minutesLeft ?? (state === 'over' || state === 'expired' ? -1 : 23.75);
  return {
    payment: {
      status: statusOf[state],
      amount: '1249.50',
      currency: 'USDT',
      network: 'tron',
      merchant_wallet: TRON_WALLET,
      description: 'Order 4711: two cups of coffee',
      expires_at: new Date(now + left * MINUTE_MS).toISOString(),
      ...payment,
    },
    confirmations: confirmations ?? (state === 'seen' ? { seen: 7, required: 19 } : null),
    server_time: new Date(now).toISOString(),
    received,
    arrived: state === 'arrived' && received === null ? { amount: '1248.50' } : null,
    warnings: warnings ?? (state === 'frozen' ? ['wallet_blacklisted'] : []),
    merchant_id,
    reference,
    return_url,
    lookup,
  };
}

/** Warnings that a page can show in addition to its state, and money at payments that have ended, by names for tests and pictures. */
export const warned: Record<string, [state: State, changes: Changes]> = {
  'arrived-over': ['arrived', { minutesLeft: -1 }],
  'arrived-expired': ['arrived', { status: 'EXPIRED', minutesLeft: -1 }],
  'arrived-cancelled': ['arrived', { status: 'CANCELLED' }],
  'arrived-frozen': ['arrived', { warnings: ['wallet_blacklisted'] }],
  'arrived-unreadable': ['arrived', { warnings: ['network_unreadable'] }],
  'waiting-unreadable': ['waiting', { warnings: ['network_unreadable'] }],
};

const part = { amount: '1200', missing: '49.5' };
const all = { amount: '1249.5', missing: '0' };

/** What a payment with an address of its own shows, by names for tests and pictures. */
export const ownAddress: Record<string, [state: State, changes: Changes, heading: string]> = {
  'own-nothing': ['waiting', { received: { amount: '0', missing: '1249.5' } }, 'Waiting for your payment'],
  'own-part': ['waiting', { received: part }, 'Received 1200 of 1249.50 USDT'],
  'own-over': ['over', { received: part }, 'The time to pay has ended'],
  'own-seen': ['seen', { received: all }, 'Payment found'],
  'own-paid': ['paid', { received: all }, 'Paid'],
  'own-more': ['paid', { received: { amount: '1300', missing: '0' } }, 'Paid'],
  'own-less': ['paid', { received: { amount: '1249', missing: '0.5' } }, 'Paid'],
  'own-expired': [
    'arrived',
    { received: part, status: 'EXPIRED', minutesLeft: -1 },
    '1200 USDT has arrived at this address',
  ],
  'own-cancelled': ['arrived', { received: part, status: 'CANCELLED' }, '1200 USDT has arrived at this address'],
};

/** Every page of a payment, by names for tests and pictures. */
export const everyPage: readonly [name: string, state: State, changes: Changes][] = [
  ...states.map((state) => [state, state, {}] as [string, State, Changes]),
  ...Object.entries({ ...warned, ...ownAddress }).map(
    ([name, [state, changes]]) => [name, state, changes] as [string, State, Changes],
  ),
];

const statusOf = {
  ...{ waiting: 'PENDING', over: 'PENDING', arrived: 'PENDING', frozen: 'PENDING', seen: 'CHECKING' },
  ...{ paid: 'PAID', expired: 'EXPIRED', cancelled: 'CANCELLED' },
} as const satisfies Record<State, PublicPayment['status']>;
