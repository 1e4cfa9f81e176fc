import { hash } from 'node:crypto';
import { ReadCheckoutHelp } from '@quittance/contracts/http/payments/look-ups.ts';
import { findTransactionId } from '@quittance/contracts/ids.ts';
import type { CheckoutLookup, CheckoutPayment, PaymentStatus } from '@quittance/contracts/api/payment.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { clientBlock } from '@quittance/http/server/client-address.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Admission } from '../admission/admission.ts';
import { rateLimits } from '../admission/rate-limits.ts';
import { publicTokenHash } from './payment-views.ts';

type Help = Pick<CheckoutPayment, 'arrived' | 'lookup' | 'warnings'> & {
  /** When the reader may ask again who has asked too often. */
  retryAfterSeconds?: number;
};

/** What the reader asks: `typed` is what was taken for the id of a transaction, null when nothing was asked; `client` is the reader's address. */
type Question = { typed: string | null; client: string };

export type CheckoutHelpReader = (token: string, view: CheckoutPayment, question: Question) => Promise<Help>;

const SHOWN_CHARACTERS = 100;

/** While one of these holds, money may be at the address that did not pay the payment. */
const unpaid: readonly PaymentStatus[] = ['PENDING', 'EXPIRED', 'CANCELLED'];

/**
 * What the page says about money that may be its reader's, about an address or network with a problem, and about a transaction that its
 * reader names. Never throws: without an answer the page is shown all the same.
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
    // From a payments service of an older release, which has no such call.
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
