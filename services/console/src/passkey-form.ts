import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { PasskeyOptions } from '@quittance/contracts/http/api-gateway/passkeys.ts';
import { invalid } from '@quittance/http/errors.ts';

type Asked = {
  /** Where the form is sent. */
  action: string;
  kind: 'create' | 'get';
  options: PasskeyOptions['options'];
  label: string;
  /** What the form also carries. */
  hidden: Iterable<readonly [name: string, value: string]>;
  /** The name of the field with the answer. */
  answer?: string;
};

/** The name of the field that a confirmation or a sign-in comes in. */
export const PASSKEY_FIELD = 'passkey';

/** A form that asks the device for a passkey. It needs the script: nothing but a script can. */
export const passkeyForm = ({ action, kind, options, label, hidden, answer = PASSKEY_FIELD }: Asked): Html =>
  html`<form
    method="post"
    action="${action}"
    data-passkey="${kind}"
    data-options="${JSON.stringify(options)}"
    data-answer="${answer}"
  >
    ${[...hidden].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <input type="hidden" name="${answer}" value="" />
    <p class="problem" role="alert" hidden></p>
    <noscript><p class="problem">Passkeys need JavaScript, which is off in this browser.</p></noscript>
    <button>${label}</button>
  </form>`;

/** What the device answered. @throws HttpError 422 where it is none. */
export function answerIn(
  form: URLSearchParams,
  field = PASSKEY_FIELD,
): { id: string; response: Record<string, unknown> } {
  try {
    const { id, response } = JSON.parse(form.get(field) ?? '') as { id?: unknown; response?: unknown };
    if (typeof id === 'string' && typeof response === 'object' && response !== null)
      return { id, response: response as Record<string, unknown> };
  } catch {
    // The same as any other text that is no answer.
  }
  throw invalid({ field: 'passkey', reason: 'is missing: use your passkey' });
}
