import { fewAtATime, type HttpAnswer, type HttpCall } from '../../support/http.ts';
import type { Merchant } from '../../support/merchant.ts';

/** Sends creations that must be refused, and reads for which fields. */
export function creationsOf(merchant: () => Merchant) {
  const valid = () => ({ amount: '10.50', merchant_wallet: merchant().wallet, description: 'Order 7' });
  const post = ({ headers, ...call }: HttpCall) =>
    merchant().call('POST', '/api/v1/payments', {
      headers: { 'Idempotency-Key': 'order-7', 'Content-Type': 'application/json', ...headers },
      ...call,
    });
  return {
    /** A body in which everything is valid. */
    valid,
    /** With an Idempotency-Key and a content type, unless changed. */
    post,
    /** The same with exactly this body. */
    postText: (body: string | Buffer, headers: Record<string, string> = {}) => post({ body, headers }),
    /** A request, to be sent later, with some fields of a valid creation changed. */
    withBody: (fields: Record<string, unknown>) => () => post({ body: { ...valid(), ...fields } }),
  };
}

/** The fields for which each case is refused, by the case's name. */
export async function refusals(cases: Record<string, () => Promise<HttpAnswer>>) {
  const asks = Object.entries(cases).map(
    ([name, ask]) =>
      async () =>
        [name, fieldsOf(await ask())] as const,
  );
  return Object.fromEntries(await fewAtATime(asks));
}

/** The fields that a 422 names, in order, each with a reason and nothing else; or the answer if it is not a 422. */
export function fieldsOf(answer: HttpAnswer): string[] | string {
  if (answer.status !== 422) return `${answer.status} ${answer.text.slice(0, 200)}`;
  const { detail } = answer.json<{ detail: { field: string; reason: string }[] }>();
  const isComplete = detail.every(({ field, reason, ...rest }) => {
    return typeof field === 'string' && /\w{2,}/.test(reason) && Object.keys(rest).length === 0;
  });
  return isComplete ? detail.map(({ field }) => field).sort() : answer.text;
}

/** A value as the name of a case. */
export function label(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 50)}… (${text.length})` : text;
}
