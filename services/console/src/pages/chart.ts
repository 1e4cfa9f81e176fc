import { html, type Html } from '@quittance/checkout-page/html.ts';
import { grid, type Cell } from './parts.ts';

type Series<Row> = { name: string; kind: 'first' | 'second'; valueOf: (row: Row) => number };

const HEIGHT = 100;
/** Of one row: a bar for each of two series, and the room between rows. */
const WIDTH = 10;
const BAR = 4;

/**
 * Two bars for each row, drawn here: the browser runs nothing. Whoever does not see it has its title, a sentence, and the same numbers as a
 * table below it.
 */
export function barChart<Row>({
  id,
  title,
  about,
  rows,
  series,
  table,
}: {
  id: string;
  title: string;
  /** What can be seen in it, in a sentence. */
  about: string;
  rows: readonly Row[];
  series: readonly [Series<Row>, Series<Row>];
  table: Record<string, (row: Row) => Cell>;
}): Html {
  const most = Math.max(1, ...rows.flatMap((row) => series.map(({ valueOf }) => valueOf(row))));
  const width = rows.length * WIDTH;
  const bars = rows.flatMap((row, at) =>
    series.map(({ kind, valueOf }, place) => bar(kind, at * WIDTH + place * BAR + 1, (valueOf(row) / most) * HEIGHT)),
  );
  return html`<section class="chart">
    <h2 id="${id}">${title}</h2>
    <figure>
      <svg
        role="img"
        aria-labelledby="${id}-title ${id}-about"
        viewBox="0 0 ${String(width)} ${String(HEIGHT + 1)}"
        preserveAspectRatio="none"
      >
        <title id="${id}-title">${title}</title>
        <desc id="${id}-about">${about}</desc>
        ${bars}
        <rect class="line" y="${String(HEIGHT)}" width="${String(width)}" height="1"></rect>
      </svg>
      <figcaption>
        ${series.map(({ name, kind }) => html`<span class="key"><i class="${kind}"></i>${name}</span> `)}
        <span>${about}</span>
      </figcaption>
    </figure>
    <details>
      <summary>The same as a table</summary>
      ${grid(id, rows, table)}
    </details>
  </section>`;
}

/** Whatever is more than nothing can be seen. */
function bar(kind: string, x: number, wanted: number): Html {
  const height = wanted === 0 ? 0 : Math.max(1, wanted);
  const [y, tall] = [HEIGHT - height, height].map((value) => value.toFixed(1));
  return html`<rect
    class="${kind}"
    x="${String(x)}"
    y="${y ?? ''}"
    width="${String(BAR)}"
    height="${tall ?? ''}"
  ></rect>`;
}
