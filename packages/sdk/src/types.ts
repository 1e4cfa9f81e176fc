import type { components, operations } from './openapi.ts';

type Schemas = components['schemas'];

export type AccessCode = Schemas['AccessCode'];
export type CreationLimits = Schemas['CreationLimits'];
export type DeliveryRecord = Schemas['DeliveryRecord'];
/** Codes of errors that have no separate schema. */
export type DocumentedErrorCode = Schemas['ErrorCode'];
export type EndedRest = Schemas['EndedRest'];
export type FoundTransfer = Schemas['FoundTransfer'];
export type FoundTransfers = Schemas['FoundTransfers'];
export type NewApiKey = Schemas['NewApiKey'];
export type NewSigningKey = Schemas['NewSigningKey'];
export type Payment = Schemas['Payment'];
export type PaymentDetails = Schemas['PaymentDetails'];
export type PaymentPage = Schemas['PaymentPage'];
export type PaymentProof = Schemas['PaymentProof'];
export type PaymentStatus = Schemas['PaymentStatus'];
export type PaymentTransaction = Schemas['PaymentTransaction'];
export type Profile = Schemas['Profile'];
export type ProfileChange = Schemas['ProfileChange'];
export type PublicPayment = Schemas['PublicPayment'];
export type ReceivedTransfer = Schemas['ReceivedTransfer'];
export type Price = Schemas['Price'];
export type Rate = Schemas['Rate'];
export type RatesInForce = Schemas['RatesInForce'];
export type Report = Schemas['Report'];
export type ReportRow = Schemas['ReportRow'];
export type TransferChoice = Schemas['TransferChoice'];
export type UnmatchedTransfer = Schemas['UnmatchedTransfer'];
export type ValidationItem = Schemas['ValidationItem'];
export type WalletPool = Schemas['WalletPool'];
export type WebhookChoice = Schemas['WebhookChoice'];
export type WebhookConfigured = Schemas['WebhookConfigured'];
export type WebhookSettings = Schemas['WebhookSettings'];
export type WebhookTest = Schemas['WebhookTest'];

/** The payment to create: an amount in USDT or a price in another currency, with an address of one of your pools or a wallet that you name. */
export type PaymentCreation = Omit<Schemas['PaymentCreation'], 'amount' | 'price' | 'merchant_wallet' | 'wallet_pool'> &
  OneOf<{ amount: string }, { price: Schemas['Price'] }> &
  OneOf<{ wallet_pool: string }, { merchant_wallet: string }>;

type PoolRequest = Schemas['WalletPoolChange'];
/** The addresses of a pool: a list, or those of an account of your wallet. */
export type WalletPoolChange = Pick<PoolRequest, 'network' | 'rest_seconds'> &
  OneOf<Pick<PoolRequest, 'append'> & { addresses: string[] }, { xpub: string; expect_first_address: string }>;

type OneOf<A, B> = (A & { [Name in keyof B]?: never }) | (B & { [Name in keyof A]?: never });

/** The event of a PAID payment: the only one for which to deliver goods. */
export type PaidEvent = Schemas['WebhookEvent'];
/** An event of another kind that a merchant subscribed to. */
export type NoticeEvent = Schemas['WebhookNotice'];
/** The event that POST /merchant/webhook/test sends. */
export type TestEvent = {
  event_id: string;
  event_type: 'test';
  payment_id: null;
  status: 'TEST';
  expected_amount: '0';
  transaction_id: null;
  transaction_event_index: null;
  description: string;
};
/** An event that an endpoint receives. `status` says which: PAID, CHECKING, EXPIRED, CANCELLED, UNMATCHED or TEST. */
export type WebhookEvent = PaidEvent | NoticeEvent | TestEvent;

type QueryOf<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>;

/** Filters for payments; all payments without a filter. */
export type PaymentFilters = QueryOf<'listPayments'>;
export type PageQuery = QueryOf<'pagePayments'>;
export type ExportQuery = Omit<QueryOf<'exportPayments'>, 'format'>;
export type ReportQuery = QueryOf<'readReport'>;
