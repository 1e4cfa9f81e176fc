import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { Cell } from './parts.ts';

type Possible = { candidates: readonly string[]; candidates_elsewhere: boolean };

/**
 * The payments that an unmatched transfer may be for. Only one alone is named as if it were certain.
 * @param linkTo the page of a payment.
 */
export function mayBeFor(
  { candidates, candidates_elsewhere: elsewhere }: Possible,
  linkTo: (id: string) => Html,
): Cell {
  const [only, ...others] = candidates;
  if (only === undefined) return elsewhere ? 'May be for a payment of another merchant' : null;
  const more = elsewhere ? ', also for a payment of another merchant' : '';
  if (others.length > 0) return severalPayments(candidates, linkTo, more);
  return elsewhere ? html`May be for ${linkTo(only)}${more}` : linkTo(only);
}

export const severalPayments = (candidates: readonly string[], linkTo: (id: string) => Html, more = ''): Html =>
  html`May be for ${String(candidates.length)} payments${more} ${candidateList(candidates, linkTo)}`;

export const candidateList = (candidates: readonly string[], linkTo: (id: string) => Html): Html =>
  html`<ul class="candidates">
    ${candidates.map((id) => html`<li>${linkTo(id)}</li>`)}
  </ul>`;
