import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { MarkdownPage } from '@quittance/markdown/markdown.ts';

/** The page's own heading is its title, which stands above it already. */
export const runbookPage = ({ content }: MarkdownPage): Html =>
  html`<article class="text">${{ html: content.html.replace(/^\s*<h1[^>]*>.*?<\/h1>/s, '') }}</article>`;

/** A section beside what it is about. */
export const besideRunbook = (content: Html, section: Html): Html =>
  html`<div class="beside">
    <div>${content}</div>
    <article class="text" aria-label="Runbook">${section}</article>
  </div>`;
