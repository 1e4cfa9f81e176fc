import type { components, operations } from './openapi.ts';

type Schemas = components['schemas'];

export type AccessCode = Schemas['AccessCode'];
export type CreationLimits = Schemas['CreationLimits'];
export type DeliveryRecord = Schemas['DeliveryRecord'];
/** Codes of errors that have no schema of their own. */
export type DocumentedErrorCode = Schemas['ErrorCode'];
export type FoundTransfer = Schemas['FoundTransfer'];
export type FoundTransfers = Schemas['FoundTransfers'];
export type NewApiKey = Schemas['NewApiKey'];
export type NewSigningKey = Schemas['NewSigningKey'];
export type Payment = Schemas['Payment'];
export type PaymentCreation = Schemas['PaymentCreation'];
export type PaymentDetails = Schemas['PaymentDetails'];
export type PaymentPage = Schemas['PaymentPage'];
export type PaymentStatus = Schemas['PaymentStatus'];
export type PaymentTransaction = Schemas['PaymentTransaction'];
export type Profile = Schemas['Profile'];
export type PublicPayment = Schemas['PublicPayment'];
export type Report = Schemas['Report'];
export type ReportRow = Schemas['ReportRow'];
export type TransferChoice = Schemas['TransferChoice'];
export type UnmatchedTransfer = Schemas['UnmatchedTransfer'];
export type ValidationItem = Schemas['ValidationItem'];
export type WebhookChoice = Schemas['WebhookChoice'];
export type WebhookConfigured = Schemas['WebhookConfigured'];
export type WebhookSettings = Schemas['WebhookSettings'];
export type WebhookTest = Schemas['WebhookTest'];

/** The event of a payment that is PAID: the only one that is a reason to deliver goods. */
export type PaidEvent = Schemas['WebhookEvent'];
/** An event of another kind, which a merchant chose to be told. */
export type NoticeEvent = Schemas['WebhookNotice'];
/** What POST /merchant/webhook/test sends. */
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
/** What an endpoint is sent. `status` tells which: PAID, CHECKING, EXPIRED, CANCELLED, UNMATCHED or TEST. */
export type WebhookEvent = PaidEvent | NoticeEvent | TestEvent;

type QueryOf<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>;

/** Which payments; all of them unless something is given. */
export type PaymentFilters = QueryOf<'listPayments'>;
export type PageQuery = QueryOf<'pagePayments'>;
export type ExportQuery = Omit<QueryOf<'exportPayments'>, 'format'>;
export type ReportQuery = QueryOf<'readReport'>;
