import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import type { BodyOf, ResponseOf } from '@quittance/contracts/call.ts';
import type { ReadPublicPayments } from '@quittance/contracts/http/payments/payments.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';

export type PaymentsStandIn = {
  url: string;
  /** Adds a payment. @returns its public token. */
  add(checkout: CheckoutPayment): string;
  /** Sets what the gateway gets for it from now on. */
  change(token: string, checkout: CheckoutPayment): void;
  /** Answers 503 from now on, or stops doing so: like a service whose database is down. */
  fail(isFailing: boolean): void;
  close(): Promise<void>;
};

/** Replaces payments, on its own socket. It knows the payments that a test adds: in any state, at any time. */
export async function startPaymentsStandIn(): Promise<PaymentsStandIn> {
  const known = new Map<string, CheckoutPayment>();
  let isFailing = false;
  const server = createServer((request, response) => {
    void bodyOf<BodyOf<typeof ReadPublicPayments>>(request).then((question) => {
      const isAsked = request.method === 'POST' && request.url === '/internal/v1/public-payments';
      const status = isFailing ? 503 : isAsked ? 200 : 404;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(status === 200 ? answerTo(question) : { detail: 'nothing here' }));
    });
  });
  const answerTo = ({
    tokens_sha256: hashes,
  }: BodyOf<typeof ReadPublicPayments>): ResponseOf<typeof ReadPublicPayments> => ({
    found: hashes.flatMap((hash) => {
      const checkout = known.get(hash);
      return checkout === undefined ? [] : [{ token_sha256: hash, ...checkout }];
    }),
  });
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (checkout) => {
      const token = newPublicToken();
      known.set(hashOf(token), checkout);
      return token;
    },
    change: (token, checkout) => void known.set(hashOf(token), checkout),
    fail: (now) => void (isFailing = now),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const hashOf = (token: string): string => sha256(token).toString('hex');

async function bodyOf<T>(request: IncomingMessage): Promise<T> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}') as T;
}
