import { insist } from '@quittance/testkit/insist.ts';
import { send, type HttpAnswer, type HttpCall } from '../../support/http.ts';
import type { Api, Merchant } from '../../support/merchant.ts';

/** One request, put again while a busy machine answers it 503: what is looked for is what comes of it otherwise. */
export const ask = (method: string, url: string, call?: HttpCall): Promise<HttpAnswer> =>
  insist(() => send(method, url, call));

/** The same with a merchant's key, through the edge; every answer is held against the OpenAPI document. */
export const askAs = (merchant: Merchant, method: string, path: string, call?: HttpCall): Promise<HttpAnswer> =>
  insist(() => merchant.call(method, path, call));

/** As `ask`, with what holds answers against the OpenAPI document. */
export const patiently =
  (api: Api): Api =>
  (...call) =>
    insist(() => api(...call));
