import { html, type Html } from '@quittance/checkout-page/html.ts';
import { rowOf } from '@quittance/operator/table.ts';
import { actionPath, mayAct } from './cell.ts';
import type { AnyViewer } from './frame.ts';

/** Links to commands, in a row. Only those that the person may run are there, and those that take something away come last. */
export function actionList(
  commands: readonly string[],
  values: Readonly<Record<string, string>>,
  viewer: AnyViewer,
): Html {
  const pages = commands
    .filter((command) => mayAct(command, viewer))
    .flatMap((command) => {
      const { page } = rowOf(command);
      return page === undefined ? [] : [{ ...page, href: actionPath(command, values) ?? '' }];
    })
    .toSorted((a, b) => Number(a.isDanger ?? false) - Number(b.isDanger ?? false));
  // What a list has one button for is what people come to do.
  const styleOf = (isDanger: boolean) => (isDanger ? 'danger' : pages.length === 1 ? 'main' : '');
  return pages.length === 0
    ? html``
    : html`<ul class="actions">
        ${pages.map(
          ({ href, label, isDanger = false }) =>
            html`<li><a href="${href}" class="${styleOf(isDanger)}">${label}</a></li>`,
        )}
      </ul>`;
}
