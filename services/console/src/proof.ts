import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { PaymentStatus } from '@quittance/contracts/api/payment.ts';
import { ReadPaymentProof, type OwnPayment } from '@quittance/contracts/http/payments/payments.ts';
import { referenceOf } from '@quittance/contracts/payment-reference.ts';
import { HttpError } from '@quittance/http/errors.ts';
import type { Reply } from '@quittance/http/server/route.ts';
import { fileReply } from './page-route.ts';
import { partOf, type Part, type Services } from './services.ts';
import { show } from './view.ts';

/** Why a payment has no proof; null for one that has. */
type Availability = { reason: string | null };

/** @returns null for a payment that is not paid: its page does not mention proofs. */
export async function askForProof(
  services: Services,
  { merchant_id, payment_id, status }: OwnPayment & { status: PaymentStatus },
): Promise<Part<Availability> | null> {
  if (status !== 'PAID') return null;
  return partOf(
    services.call(ReadPaymentProof, { params: { merchant_id, payment_id } }).then(
      () => ({ reason: null }),
      (error: unknown) => {
        // An earlier release of payments, during an update, does not know the call.
        if (error instanceof HttpError && error.status < 500) return { reason: error.message };
        throw error;
      },
    ),
  );
}

/** A payment's proof as a file, or why there is none. @param path of the payment's page. */
export const proofPart = (asked: Part<Availability> | null, path: string): Html =>
  asked === null
    ? html``
    : html`<section>
        <h2>Proof of payment</h2>
        ${show(asked, ({ reason }) =>
          reason === null
            ? html`<p>With this file anybody can check that the payment was paid, without asking us.</p>
                <p class="actions"><a href="${path}/proof" download>Download proof of payment</a></p>`
            : html`<p class="none">There is none. ${reason}.</p>`,
        )}
      </section>`;

/** @throws HttpError 409 with the reason where there is no proof. */
export async function proofFile(services: Services, params: OwnPayment): Promise<Reply> {
  const proof = await services.call(ReadPaymentProof, { params });
  const name = `proof-of-payment-${referenceOf(params.payment_id)}.json`;
  return fileReply(`${JSON.stringify(proof, null, 2)}\n`, name, 'application/json; charset=utf-8');
}
