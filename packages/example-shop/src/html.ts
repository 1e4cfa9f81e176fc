/** A piece of HTML that is safe to put into a page. */
export type Html = { readonly html: string };

/** Writes HTML. Every value is escaped, for text and for quoted attributes, except what this function itself wrote. */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  return { html: String.raw({ raw: strings }, ...values.map(written)) };
}

function written(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return 'html' in value ? value.html : value.map((piece) => piece.html).join('');
}
