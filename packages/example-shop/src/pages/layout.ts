import { html, type Html } from '../html.ts';

/** The frame of every page. */
export function page(title: string, content: Html, place: 'shop' | 'admin' = 'shop'): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} - Kettle &amp; Leaf</title>
        <link rel="stylesheet" href="/assets/shop.css" />
        <link rel="icon" href="/assets/leaf.svg" type="image/svg+xml" />
      </head>
      <body class="${place}">
        <header>
          <a class="brand" href="${place === 'shop' ? '/' : '/admin'}">
            <img src="/assets/leaf.svg" alt="" width="28" height="28" />
            <span>Kettle &amp; Leaf${place === 'admin' ? html` <small>Orders</small>` : ''}</span>
          </a>
        </header>
        <main>${content}</main>
        <footer><p>An example shop. Nothing is sold here.</p></footer>
      </body>
    </html> `.html;
}

export const messagePage = (title: string, text: string): string =>
  page(
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      <p><a href="/">To the shop</a></p>`,
  );

/** A time that everyone reads alike, programs too. */
export const time = (at: Date): Html =>
  html`<time datetime="${at.toISOString()}">${at.toISOString().slice(0, 16).replace('T', ' ')} UTC</time>`;
