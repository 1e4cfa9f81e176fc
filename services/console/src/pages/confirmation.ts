import { html, type Html } from '@quittance/checkout-page/html.ts';
import { form, type Viewer } from './frame.ts';

/** The audit's column has room for so much. */
export const REASON_MAX = 1000;

/** Asks before something is changed, and why: the reason stands in the audit beside the operator's name. */
export const confirmation = (
  viewer: Viewer,
  {
    question,
    action,
    label,
    back,
    more = [],
  }: { question: Html; action: string; label: string; back: string; more?: Html[] },
): Html =>
  html`<p>${question}</p>
    ${form(
      action,
      viewer,
      html`${more}<label for="reason">Why, for the audit</label>
        <input id="reason" name="reason" required maxlength="${String(REASON_MAX)}" autocomplete="off" />
        <div class="actions"><button>${label}</button> <a href="${back}">Do nothing</a></div>`,
    )}`;
