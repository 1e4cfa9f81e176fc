import { hash } from 'node:crypto';
import { ReadCheckoutHelp } from '@quittance/contracts/http/payments/look-ups.ts';
import { findTransactionId } from '@quittance/contracts/ids.ts';
import type { PaymentStatus } from '@quittance/contracts/api/payment.ts';
import type { CheckoutLookup, CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { clientBlock } from '@quittance/http/server/client-address.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Admission } from '../limits/admission.ts';
import { rateLimits } from '../limits/admission.ts';
import { publicTokenHash } from '../payments/views.ts';

type Help = Pick<CheckoutPayment, 'arrived' | 'lookup' | 'warnings'> & {
  /** When the customer may ask again; set after too many look-ups. */
  retryAfterSeconds?: number;
};

/** `typed` is what the customer typed as a transaction id, null without one; `client` is the customer's address. */
type Question = { typed: string | null; client: string };

export type CheckoutHelpReader = (token: string, view: CheckoutPayment, question: Question) => Promise<Help>;

const SHOWN_CHARACTERS = 100;

/** In these statuses, money that did not pay the payment may be at its address. */
const unpaid: readonly PaymentStatus[] = ['PENDING', 'EXPIRED', 'CANCELLED'];

/**
 * What the page says about money that may be the customer's, about a problem with the address or the network, and about a transaction that the
 * customer names. Never throws: if payments does not answer, the page is shown without it.
 */
export function createCheckoutHelp({
  payments,
  admission,
  logger,
}: {
  payments: ServiceClient;
  admission: Pick<Admission, 'count'>;
  logger: Logger;
}): CheckoutHelpReader {
  async function read(
    token: string,
    view: CheckoutPayment,
    { transactionId, client }: { transactionId: string | null; client: string },
  ): Promise<Help> {
    if (transactionId === null && !unpaid.includes(view.payment.status)) return {};
    const tokenHash = publicTokenHash(token);
    if (transactionId !== null) {
      const { limit } = rateLimits.checkoutLookUp;
      const { count, secondsLeft } = await admission.count(tokenHash, rateLimits.checkoutLookUp);
      if (count > limit) return { lookup: answer(transactionId, 'asked_too_often'), retryAfterSeconds: secondsLeft };
    }
    const body = {
      token_sha256: tokenHash,
      ...(transactionId !== null && {
        transaction_id: transactionId,
        client_sha256: hash('sha256', clientBlock(client), 'hex'),
      }),
    };
    const help = await payments.find(ReadCheckoutHelp, { body });
    // Null for an unknown token.
    return help ?? (transactionId === null ? {} : { lookup: answer(transactionId, 'not_read_yet') });
  }

  return async (token, view, { typed, client }) => {
    const transactionId = typed === null ? null : findTransactionId(typed);
    const isUnreadable = typed !== null && transactionId === null;
    try {
      const help = await read(token, view, { transactionId, client });
      return isUnreadable ? { ...help, lookup: answer(typed.slice(0, SHOWN_CHARACTERS), 'no_transaction_id') } : help;
    } catch (error) {
      logger.warn({ error }, 'the checkout page is shown without help');
      return transactionId === null ? {} : { lookup: answer(transactionId, 'not_read_yet') };
    }
  };
}

const answer = (transactionId: string, outcome: CheckoutLookup['outcome']): CheckoutLookup => ({
  transaction_id: transactionId,
  outcome,
  amount: null,
  network: null,
});
