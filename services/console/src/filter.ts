import { html, type Html } from '@quittance/checkout-page/html.ts';
import { options } from './action.ts';

/** A field of a filter, with its label above. @param isWide for what takes a sentence. */
export const field = (id: string, label: string, input: Html, isWide = false): Html =>
  html`<div class="${isWide ? 'field wide' : 'field'}">
    <label for="${id}">${label}</label>
    ${input}
  </div>`;

/** What is searched for. @param isRequired where an empty text finds nothing. */
export const searchField = (name: string, label: string, text: string, isRequired = false): Html =>
  field(
    name,
    label,
    html`<input
      id="${name}"
      name="${name}"
      type="search"
      value="${text}"
      maxlength="500"
      autocomplete="off"
      ${isRequired ? html`required` : []}
    />`,
    true,
  );

/** One of a few. @param id of the field, where two forms of a page ask for one name. */
export const selectField = (
  name: string,
  label: string,
  values: readonly string[],
  chosen: string,
  { names = {}, id = name }: { names?: Record<string, string>; id?: string } = {},
): Html =>
  field(
    id,
    label,
    html`<select id="${id}" name="${name}">
      ${options(values, chosen, names)}
    </select>`,
  );

export const dateField = (id: string, name: string, label: string, day: string): Html =>
  field(id, label, html`<input id="${id}" name="${name}" type="date" value="${day}" required />`);

/** Fields in a row above a list that they narrow. The address of the page has their values. @param button which also names the form. */
export const filterForm = (path: string, fields: readonly Html[], button = 'Find'): Html =>
  html`<form method="get" action="${path}" role="search" aria-label="${button}" class="filter">
    ${fields} <button>${button}</button>
  </form>`;
