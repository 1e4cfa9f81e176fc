import type { Call, ResponseOf } from '@quittance/contracts/call.ts';
import type { CallOwner, NOTIFIER, ServiceName } from '@quittance/contracts/service-name.ts';
import type { ServiceCalls, ServiceClient } from '@quittance/http/client/client.ts';
import { readAnswer, requestOf, type Given, type ServiceResponse } from '@quittance/http/client/request.ts';
import { readAll } from '@quittance/http/client/transport.ts';
import { CONFIRMATION_NEEDED, requestHash } from '@quittance/http/confirmation.ts';
import type { StreamResponse } from '@quittance/http/client/stream.ts';
import { detailText, HttpError } from '@quittance/http/errors.ts';

/** The internal APIs, called as the signed-in person, or as nobody before sign-in. */
export type Services = {
  /** @throws HttpError with the status and the sentence of a service that refuses, 503 where one gives no answer. */
  call<C extends Call>(call: C, ...given: Given<C>): Promise<ResponseOf<C>>;
  /** As `call`, for an answer that is passed on as it comes. */
  stream<C extends Call>(call: C, ...given: Given<C>): Promise<StreamResponse>;
};

export type Clients = Record<ServiceName, ServiceClient> & { [NOTIFIER]?: ServiceClient };

export const asNobody = (clients: Clients): Services => servicesOf((owner) => clientOf(clients, owner));

/** Each service decides by the operator's token what may be done; the console could not do more if it wanted to. */
export const asOperator = (clients: Clients, token: string): Services =>
  servicesOf((owner) => clientOf(clients, owner).as(token));

function clientOf(clients: Clients, owner: CallOwner): ServiceClient {
  const client = clients[owner];
  if (client === undefined) throw new HttpError(404, 'Notices are not set up here');
  return client;
}

const servicesOf = (callsOf: (owner: CallOwner) => ServiceCalls): Services => ({
  async call(call, ...given) {
    const answer = await callsOf(call.owner).send(call, ...given);
    if (answer.status === call.status) return readAnswer(call, answer);
    const refusal = refusalOf(answer);
    if (refusal.code !== CONFIRMATION_NEEDED) throw refusal;
    const { method, path, json } = requestOf(call, given[0]);
    throw new NeedsConfirmation(requestHash(method, path, json === undefined ? '' : JSON.stringify(json)));
  },
  async stream(call, ...given) {
    const { status, headers, body } = await callsOf(call.owner).stream(call, ...given);
    if (status === call.status) return { status, headers, body };
    throw refusalOf({ status, headers, body: await readAll(body, MAX_REFUSAL_BYTES) });
  },
});

/** The person has to confirm this request with a passkey first; then it can be made again, exactly as it was. */
export class NeedsConfirmation extends Error {
  readonly requestHash: string;
  constructor(hash: string) {
    super('a request needs a confirmation');
    this.requestHash = hash;
  }
}

/** A refusal is a sentence or two. */
const MAX_REFUSAL_BYTES = 64 * 1024;

function refusalOf({ status, headers, body }: ServiceResponse): HttpError {
  const retryAfter = headers['retry-after'];
  const { detail, code } = JSON.parse(body.toString('utf8')) as { detail?: unknown; code?: unknown };
  const more = typeof code === 'string' ? { code } : {};
  return new HttpError(status, detailText(detail), retryAfter === undefined ? {} : { 'retry-after': retryAfter }, more);
}

/** @param unknown in place of a 404. */
export async function knownOr<T, U>(unknown: U, asked: Promise<T>): Promise<T | U> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return unknown;
    throw error;
  }
}

/** The answer of one service, or that it did not answer; the page shows the rest. */
export type Part<T> = { value: T } | { silent: string };

export async function partOf<T>(asked: Promise<T>): Promise<Part<T>> {
  try {
    return { value: await asked };
  } catch (error) {
    if (error instanceof HttpError && error.status >= 500) return { silent: error.message };
    throw error;
  }
}
