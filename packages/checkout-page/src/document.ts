import { html, type Html } from './html.ts';
import { accentPath } from './accent.ts';
import { loadAsset } from './asset.ts';
import { fill, formatNumber } from './format.ts';
import { languages, type Language } from './languages.ts';
import type { Shop } from './shop.ts';

/** The page's files, read once at start. */
export const assets = {
  script: loadAsset(new URL('assets/checkout.js', import.meta.url)),
  wallet: loadAsset(new URL('assets/wallet.js', import.meta.url)),
  stylesheet: loadAsset(new URL('assets/checkout.css', import.meta.url)),
};

/** A viewer's choices. The links of the page carry them, so that the server stores nothing. */
export type PageChoices = {
  language: Language;
  /** Code of the language that the viewer chose by the switch, if any. */
  chosenLanguage: string | null;
  /** What the QR code holds, if the viewer chose it. */
  qr: 'recipient' | 'link' | null;
};

/** Reload interval of a page without script while its payment may still change. */
const RELOAD_SECONDS = 10;

/** What keeps the page up to date: nothing; script alone, so that what a reader has asked for stays; or without script a reload too. */
type Renewal = 'none' | 'script' | 'reload';

/** For pages that ask for a payment, or may come to. It stays when the script replaces the main part. */
export const walletScript = html`<script src="/assets/${assets.wallet.name}" defer></script>`;

/** The frame of every checkout page. */
export function checkoutDocument(
  choices: PageChoices,
  { title, renewal, shop, content }: { title: string | Html; renewal: Renewal; shop: Shop; content: Html },
): string {
  const { locale, direction, texts } = choices.language;
  // Keeps the script of Chinese, by which browsers choose letter shapes, and drops what only Intl understands.
  const { baseName } = new Intl.Locale(locale);
  const script = html`<script src="/assets/${assets.script.name}" defer></script>`;
  const reload = html`<noscript><meta http-equiv="refresh" content="${String(RELOAD_SECONDS)}" /></noscript>`;
  return html`<!doctype html>
    <html lang="${baseName}" dir="${direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="stylesheet" href="/assets/${assets.stylesheet.name}" />
        ${shop.accentColor === null ? [] : html`<link rel="stylesheet" href="/assets/${accentPath(shop.accentColor)}" />`}
        ${renewal === 'none' ? [] : script} ${renewal === 'reload' ? reload : []}
      </head>
      <body
        data-copied="${texts.copied}"
        data-copy-failed="${texts.copyFailed}"
        data-offline="${texts.offline}"
        data-time-left="${texts.timeLeft}"
        data-embed-origins="${shop.embedOrigins.join(' ')}"
      >
        <p class="note" role="status"></p>
        ${content}
        <p class="announcement" role="status"></p>
        ${languageSwitch(choices)}
      </body>
    </html> `.html;
}

/** For a page of a heading and a text. */
export function messageMain(state: string, { title, text }: { title: string; text: string }, more: Html | []): Html {
  return html`<main class="message" data-state="${state}">
    <h1 tabindex="-1">${title}</h1>
    <p class="lead">${text}</p>
    ${more}
  </main>`;
}

/** For browsers in which the script does not run; the script removes it. */
export function reloadNotice(choices: PageChoices, renewal: Renewal): Html {
  const { texts } = choices.language;
  const seconds = formatNumber(choices.language, RELOAD_SECONDS);
  return html`<p class="reload">
    ${renewal === 'reload' ? html`<noscript>${fill(texts.selfRefresh, { seconds })}</noscript>` : []}
    <a href="${pageLink(choices, {})}">${texts.refresh}</a>
  </p>`;
}

/** Link to the same page with another choice. */
export function pageLink(choices: PageChoices, changes: Partial<Pick<PageChoices, 'chosenLanguage' | 'qr'>>): string {
  const { chosenLanguage, qr } = { ...choices, ...changes };
  const query = new URLSearchParams();
  if (chosenLanguage !== null) query.set('lang', chosenLanguage);
  if (qr !== null) query.set('qr', qr);
  return `?${query.toString()}`;
}

function languageSwitch(choices: PageChoices): Html {
  const items = languages.map(({ code, direction, name }) => {
    const current = code === choices.language.code ? html` aria-current="true"` : [];
    const link = pageLink(choices, { chosenLanguage: code });
    return html`<li><a href="${link}" lang="${code}" hreflang="${code}" dir="${direction}" ${current}>${name}</a></li>`;
  });
  return html`<footer>
    <nav aria-label="${choices.language.texts.language}">
      <details>
        <summary>${choices.language.name}</summary>
        <ul>
          ${items}
        </ul>
      </details>
    </nav>
  </footer>`;
}
