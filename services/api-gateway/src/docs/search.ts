import { html, type Html } from '@quittance/checkout-page/html.ts';

/** A section that the search can find. */
export type Place = { path: string; page: string; heading: string; text: string };

const MOST_WORDS = 8;
const MOST_RESULTS = 30;
const EXCERPT_LENGTH = 180;

/** The places that contain every word; those with the words in a heading come first. */
function findPlaces(places: readonly Place[], query: string): Place[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  return places
    .filter(({ page, heading, text }) => holdsAll(`${page} ${heading} ${text}`, words))
    .map((place) => ({ place, score: scoreOf(place, words) }))
    .sort((one, other) => other.score - one.score)
    .slice(0, MOST_RESULTS)
    .map(({ place }) => place);
}

export function searchContent(places: readonly Place[], query: string): Html {
  const found = findPlaces(places, query);
  const words = wordsOf(query);
  const none = html`<p>
    Nothing has all of these words. Try fewer of them, or the <a href="/docs/api">API reference</a>.
  </p>`;
  return html`<h1>Search: ${query.trim() === '' ? 'type a word' : query}</h1>
    ${found.length === 0 && words.length > 0 ? none : []}
    <ol class="results">
      ${found.map(
        ({ path, page, heading, text }) =>
          html`<li>
            <a href="${path}">${heading === page ? page : `${page}: ${heading}`}</a>
            <p>${excerptOf(text, words)}</p>
          </li>`,
      )}
    </ol>`;
}

const wordsOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);

const holdsAll = (text: string, words: readonly string[]): boolean => {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
};

function scoreOf({ page, heading, text }: Place, words: readonly string[]): number {
  if (holdsAll(heading, words)) return 4;
  if (holdsAll(`${page} ${heading}`, words)) return 3;
  if (words.some((word) => holdsAll(`${page} ${heading}`, [word]))) return 2;
  return holdsAll(text, words) ? 1 : 0;
}

/** The text around the first word that is found, with every word marked. */
function excerptOf(text: string, words: readonly string[]): Html[] {
  const lower = text.toLowerCase();
  const [first = 0] = words
    .map((word) => lower.indexOf(word))
    .filter((at) => at >= 0)
    .sort((a, b) => a - b);
  // From the beginning of a word.
  const from = first < 60 ? 0 : text.indexOf(' ', first - 60) + 1;
  const excerpt = `${from > 0 ? '… ' : ''}${text.slice(from, from + EXCERPT_LENGTH)}${text.length > from + EXCERPT_LENGTH ? ' …' : ''}`;
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, '\\$&')).join('|')})`, 'i');
  return excerpt.split(pattern).map((piece, index) => (index % 2 === 1 ? html`<mark>${piece}</mark>` : html`${piece}`));
}
