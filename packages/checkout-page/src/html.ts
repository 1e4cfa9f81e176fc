/** A piece of HTML that is safe to put into a page. */
export type Html = { readonly html: string };

/**
 * Writes HTML. Everything put into it is escaped, for text and for quoted attributes, unless it was written by this function too;
 * so a merchant's text cannot become markup, whatever it holds.
 */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const pieces = values.map((value, position) => `${toHtml(value)}${strings[position + 1] ?? ''}`);
  return { html: `${strings[0] ?? ''}${pieces.join('')}` };
}

function toHtml(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return escape(value);
  return 'html' in value ? value.html : value.map((piece) => piece.html).join('');
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
