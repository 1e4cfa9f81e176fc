import { html, type Html } from './html.ts';
import { Marked, Renderer, type Tokens } from 'marked';

/** A heading, what stands below it as far as the next one, and the fragment that leads there. */
type Section = { heading: string; id: string; depth: number; text: string };

export type MarkdownPage = { title: string; content: Html; sections: Section[] };

/**
 * Makes a page of our own Markdown: headings can be linked to, wide tables and code scroll by themselves, and HTML in it is text.
 * @param addressOf where a link leads to; null leaves its words without one.
 */
export function renderMarkdown(markdown: string, addressOf: (href: string) => string | null): MarkdownPage {
  const sections: Section[] = [];
  const defaults = new Renderer();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const content = this.parser.parseInline(tokens);
        const section = { heading: textOf(content), id: fragmentOf(textOf(content)), depth, text: '' };
        sections.push(section);
        return `<h${depth} id="${section.id}">${content}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const address = addressOf(href);
        const content = { html: this.parser.parseInline(tokens) };
        return address === null ? content.html : html`<a href="${address}">${content}</a>`.html;
      },
      code({ text, lang = '' }) {
        const title = lang.split(' ').slice(1).join(' ');
        const caption = title === '' ? [] : html`<figcaption>${title}</figcaption>`;
        return html`<figure>
          ${caption}
          <pre tabindex="0"><code>${text}</code></pre>
        </figure> `.html;
      },
      table(token: Tokens.Table) {
        defaults.parser = this.parser;
        return `<div class="table" tabindex="0" role="group" aria-label="Table">${defaults.table(token)}</div>\n`;
      },
      // Long names break where a reader would.
      codespan: ({ text }) => html`<code>${text}</code>`.html.replaceAll('_', '_<wbr />'),
      html: ({ text }) => html`${text}`.html,
    },
  });
  const pieces = marked.lexer(markdown).map((token) => {
    const before = sections.length;
    const piece = marked.parser([token]);
    const current = sections.at(-1);
    if (sections.length === before && current !== undefined) current.text += `${textOf(piece)} `;
    return piece;
  });
  return { title: sections[0]?.heading ?? '', content: { html: pieces.join('') }, sections };
}

/** As GitHub makes it, so that a link works in both places. */
const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const characters: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** What a reader sees of a piece of HTML. */
const textOf = (piece: string): string =>
  piece
    .replace(/<\/?(?:a|code|em|strong|wbr)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => characters[entity] ?? entity)
    .replace(/\s+/g, ' ')
    .trim();
