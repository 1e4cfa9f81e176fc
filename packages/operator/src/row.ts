import type { Author } from '@quittance/contracts/author.ts';
import type { BodyOf, Call, InputOf, ParamsOf, ResponseOf } from '@quittance/contracts/call.ts';
import type { Access } from '@quittance/contracts/principal.ts';
import type { Given } from '@quittance/http/client/request.ts';
import type { Fields, ValuesOf } from './field.ts';
import type { View } from './view.ts';

/** The services, as the person who asks. */
export type Services = {
  call<C extends Call>(call: C, ...given: Given<C>): Promise<ResponseOf<C>>;
};

/** What to ask before it is done; null for nothing. A question that has to be looked up first is looked up only for a person. */
type Question = string | null | (() => Promise<string>);

/** The outcome of a call. The rest is for people, and made only for them: a program gets the answer as it is. */
export type Done<Answer = unknown> = {
  /** As the service gave it. */
  answer: Answer;
  view(): View;
  /** A hint for the person. */
  note(): string | null;
  /** Options of the command that shows the next page; null at the end. */
  next(): Next;
};

export type Next = { options: Record<string, string>; of?: string } | null;

/** Where the console asks for it. */
export type Page = {
  /** Its parameters are fields of the row. */
  path: string;
  label: string;
  /** Where it leads back to. */
  back: string;
  /** What the answer shows is shown once, and nowhere again. */
  isSecret?: boolean;
  /** It stops a merchant's business or takes something away, so its button looks different. */
  isDanger?: boolean;
};

/** Something that an operator can see or do. The command line, the console and docs/operator.md all follow from it. */
export type Row<F extends Fields = Fields> = {
  command: string;
  /** One sentence, without a full stop. */
  does: string;
  /** What else to know before one does it. */
  more?: string;
  /** Who may do it; null where no service decides it. */
  role: Access | null;
  /** Whether an audit has it, with an author and a reason. Where `required`, there is no default reason. */
  audited: boolean | 'reason required';
  fields: F;
  /** How many seconds the command waits until the change is in force, unless --wait is given. */
  waitSeconds?: number;
  /** Whether the command line asks too: what stops a merchant's business, or cannot be undone. The console always asks. */
  asks?: boolean;
  /** What to ask where its words are not enough. */
  question?(values: ValuesOf<F>, services: Services): Question | Promise<Question>;
  /** Names what an id stands for, at the beginning of the question. */
  subject?(values: ValuesOf<F>, services: Services): Promise<string>;
  /** What is missing from the command line, which no single field can say; null when nothing is. */
  missing?(values: ValuesOf<F>): string | null;
  page?: Page;
  /** Another name of the command. */
  alias?: string;
  send?(services: Services, values: ValuesOf<F>, author: Author): Promise<Done>;
};

type Common<F extends Fields> = Omit<Row<F>, 'command' | 'role' | 'audited' | 'send'>;

/** What a call needs of the fields when they are given as they are: parameters, query and body have their names. */
type Needs<C extends Call> = ParamsOf<C> &
  Partial<Record<keyof C['query'], unknown>> &
  (BodyOf<C> extends undefined ? object : BodyOf<C>);
type Loose<T> = { [name in keyof T]: T[name] | undefined };
type InputWithoutAuthor<C extends Call> = Omit<InputOf<C>, 'author'>;
type GivenPart<C extends Call, F extends Fields> =
  ValuesOf<F> extends Loose<Needs<C>>
    ? { given?(values: ValuesOf<F>): InputWithoutAuthor<C> }
    : { given(values: ValuesOf<F>): InputWithoutAuthor<C> };

export type CallRow<F extends Fields, Answer> = Row<F> & {
  send(services: Services, values: ValuesOf<F>, author: Author): Promise<Done<Answer>>;
};

/** A row that makes one call and shows its answer. */
export function callRow<C extends Call, const F extends Fields>(
  command: string,
  call: C,
  row: Common<F> & {
    view(answer: ResponseOf<C>, values: ValuesOf<F>): View;
    note?(answer: ResponseOf<C>, values: ValuesOf<F>): string | null;
    next?(answer: ResponseOf<C>): Next;
  } & GivenPart<C, F>,
): CallRow<F, ResponseOf<C>> {
  const { view, note, next, given = (values: ValuesOf<F>) => inputOf(call, values) as InputWithoutAuthor<C> } = row;
  return {
    ...row,
    command,
    role: call.access,
    audited: call.authored,
    async send(services, values, author) {
      // The fields fit the call by its type, see GivenPart.
      const input = { ...given(values), ...(call.authored && { author }) } as InputOf<C>;
      const answer = await services.call(call, ...([input] as Given<C>));
      return {
        answer,
        view: () => view(answer, values),
        note: () => note?.(answer, values) ?? null,
        next: () => next?.(answer) ?? null,
      };
    },
  };
}

/** A row that the command line carries out in a way of its own, with words that both share. */
export const ownRow = <const F extends Fields>(
  command: string,
  role: Access | null,
  row: Common<F> & { audited?: Row['audited'] },
): Row<F> => ({ command, role, audited: false, ...row });

function inputOf(call: Call, values: Record<string, unknown>): object {
  const isParameter = (name: string) => call.path.split('/').includes(`:${name}`);
  const pick = (isOfIt: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== undefined && isOfIt(name)));
  const inQuery = (name: string) => Object.hasOwn(call.query, name);
  return {
    params: pick(isParameter),
    query: pick(inQuery),
    ...(call.body.schema !== null && { body: pick((name) => !isParameter(name) && !inQuery(name)) }),
  };
}

/** A page of every list. One that is this long may not be the last. */
export const PAGE = 100;

/** How to go on after a full page. @param before the field that the next page is asked for by. */
export const olderThan = <T>(page: readonly T[], before: (last: T) => string): Next => {
  const last = page.at(PAGE - 1);
  return last === undefined ? null : { options: { before: before(last) } };
};

/** What to ask before it is done. */
export async function questionOf(row: Row, values: Record<string, unknown>, services: Services): Promise<Question> {
  const { does, more = '', subject } = row;
  const asked = row.question === undefined ? `${sentence(does)} ${more}`.trim() : await row.question(values, services);
  if (subject === undefined || asked === null) return asked;
  return async () => `${await subject(values, services)}: ${typeof asked === 'string' ? asked : await asked()}`;
}

export const sentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.?]$/.test(words) ? '' : '.'}`;
