import { eventNames, metadata, optionParts, paymentCreation, price } from './creation.ts';
import {
  PARTS_MAX,
  paymentFields,
  paymentProperties,
  publicFields,
  receivedTransfer,
  unmatchedTransfer,
  warnings,
} from './payment.ts';
import { paymentProof } from './proof.ts';
import { rate } from './rate.ts';
import { transaction } from './transaction.ts';

/* The description of payments in docs/openapi.yaml; `npm run openapi` writes it there. */

const byReference = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/Payment/properties/${name}` }]));
const withStatus = { allOf: [{ $ref: '#/components/schemas/PaymentByStatus' }] };

/** The components of docs/openapi.yaml that are generated from these definitions; `npm run openapi` writes them. */
export const components: Record<string, object> = {
  PaymentCreation: paymentCreation,
  Metadata: metadata,
  Price: price,
  Rate: rate,
  Payment: {
    description: 'A payment.',
    type: 'object',
    required: paymentFields,
    properties: paymentProperties,
    ...withStatus,
  },
  PaymentTransaction: transaction,
  UnmatchedTransfer: unmatchedTransfer,
  ReceivedTransfer: receivedTransfer,
  PaymentDetails: {
    description: 'A payment, the transfers that may be for it, and warnings.',
    type: 'object',
    required: [...paymentFields, 'unmatched_transfers', 'transfers', 'warnings'],
    properties: {
      ...byReference(paymentFields),
      unmatched_transfers: {
        description: 'Newest first, at most 100.',
        type: 'array',
        maxItems: 100,
        items: { $ref: '#/components/schemas/UnmatchedTransfer' },
      },
      transfers: {
        description:
          'The transfers to the address of a dedicated payment, in the order of the chain; the newest ' +
          `${PARTS_MAX} if there are more. Empty for other payments.`,
        type: 'array',
        maxItems: PARTS_MAX,
        items: { $ref: '#/components/schemas/ReceivedTransfer' },
      },
      warnings,
    },
    ...withStatus,
  },
  PaymentProof: paymentProof,
  PublicPayment: {
    description:
      'Everything that the public token shows. It never has the transaction, which would show the address of the payer to anyone with the link.',
    type: 'object',
    required: publicFields,
    properties: byReference(publicFields),
  },
};

/** The properties of WebhookEvent and WebhookNotice that repeat the payment's. */
export const eventProperties: Record<string, object> = {
  ...optionParts(eventNames, 'inEvents'),
  requested_amount: {
    description: 'The amount that you sent, if `expected_amount` is a unique amount.',
    $ref: '#/components/schemas/Amount',
  },
  rate: { description: 'The rate that converted the price, if there is one.', $ref: '#/components/schemas/Rate' },
};
