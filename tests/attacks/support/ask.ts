import { insist } from '@quittance/testkit/insist.ts';
import { send, type HttpAnswer, type HttpCall } from '../../support/http.ts';
import type { Api, Merchant } from '../../support/merchant.ts';

/** One request, repeated while a busy machine answers it 503. */
export const ask = (method: string, url: string, call?: HttpCall): Promise<HttpAnswer> =>
  insist(() => send(method, url, call));

/** The same with a merchant's key, through the edge. Every answer is checked against the OpenAPI document. */
export const askAs = (merchant: Merchant, method: string, path: string, call?: HttpCall): Promise<HttpAnswer> =>
  insist(() => merchant.call(method, path, call));

/** As `ask`, with a check of answers against the OpenAPI document. */
export const patiently =
  (api: Api): Api =>
  (...call) =>
    insist(() => api(...call));
