import type { Author } from '@quittance/contracts/author.ts';
import type { Fields, ValuesOf } from '@quittance/operator/field.ts';
import type { CallRow, Done, Row } from '@quittance/operator/row.ts';
import type { Api } from './api.ts';
import type { Config } from './config.ts';
import { note, printResult } from './text.ts';

/** A command as it was typed. */
export type Asked<Values> = {
  api: Api;
  config: Config;
  values: Values;
  options: { json: boolean; yes: boolean; wait: number };
  /** The author and the reason. @throws Failure when the author is unknown. */
  author(): Author;
  /** Asks what the row asks, where it does. @throws Failure unless the person agrees. */
  confirm(): Promise<void>;
  /** The command once more, with other options. */
  again(options: Record<string, string>): string;
};

/** How one command runs. */
export type Run = { command: string; run(asked: Asked<Record<string, unknown>>): Promise<void> };

/** A row that is carried out in a way of its own. */
export const own = <F extends Fields>(
  { command }: Row<F>,
  run: (asked: Asked<ValuesOf<F>>) => Promise<void> | void,
): Run => runOf(command, run);

/** What every call row does: ask, send, show. */
export const standard = (row: Row & Required<Pick<Row, 'send'>>): Run =>
  runOf(row.command, async (asked) => {
    const done = await sent(row, asked);
    show(done, asked);
  });

/** A call row whose command waits. @param wait ends when the change is in force. */
export const waiting = <F extends Fields, Answer>(
  row: CallRow<F, Answer>,
  wait: (asked: Asked<ValuesOf<F>>, answer: Answer) => Promise<void>,
): Run =>
  runOf(row.command, async (asked: Asked<ValuesOf<F>>) => {
    const done = await sent(row, asked);
    await wait(asked, done.answer);
    show(done, asked);
  });

/** Asks first, and makes the call. */
export async function sent<F extends Fields, D extends Done>(
  row: { audited: Row['audited']; send(api: Api, values: ValuesOf<F>, author: Author): Promise<D> },
  asked: Asked<ValuesOf<F>>,
): Promise<D> {
  const author = row.audited === false ? { actor: '', reason: '' } : asked.author();
  await asked.confirm();
  return row.send(asked.api, asked.values, author);
}

export function show({ answer, view, ...beside }: Done, { options, again }: Asked<unknown>): void {
  printResult(answer, options, view);
  if (options.json) return;
  const [remark, next] = [beside.note(), beside.next()];
  if (remark !== null) note(remark, options);
  if (next === null) return;
  const how = next.of === undefined ? 'There may be older ones:' : `${next.of}. Go on with:`;
  note(`${how} ${again(next.options)}`, options);
}

// A method, so that runs of all rows fit one table: each is only ever given the values of its own row.
const runOf = <Values extends Record<string, unknown>>(
  command: string,
  run: (asked: Asked<Values>) => Promise<void> | void,
): Run => ({
  command,
  async run(asked: Asked<Values>) {
    await run(asked);
  },
});
