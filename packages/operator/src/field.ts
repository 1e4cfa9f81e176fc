import { parseAddress } from '@quittance/contracts/address.ts';
import { isId, parseTransactionId, type IdPrefix } from '@quittance/contracts/ids.ts';
import { OPERATOR_NAME } from '@quittance/contracts/principal.ts';
import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

/** A text that cannot be right. Its message says what is expected. */
export class Wrong extends Error {
  override readonly name = 'Wrong';
}

/** What was typed: one text, several, or that a flag was given. */
export type Raw = string | readonly string[] | true | undefined;

/** How the console asks for a field, by its help. What has no form is asked by the command line alone. */
export type Form = {
  /** Where the help alone would be no label; the help is below it then. */
  label?: string;
  input: 'number' | 'text' | 'select' | 'check';
  max?: number;
  /** The label of a box that says `none`. */
  none?: string;
  /** What each choice is called. */
  names?: Record<string, string>;
};

/** Something that a command takes: a word of its own (`<merchant>`) or an option (`--days <n>`). */
export type Field<T> = {
  flags: string;
  help: string;
  required: boolean;
  choices?: readonly string[];
  byDefault?: string;
  /** It may be given several times. */
  repeats?: boolean;
  /** Names of options that must not be given together with it. */
  conflicts?: readonly string[];
  form?: Form;
  /** @throws Wrong */
  read(raw: Raw): T;
};

/** The help for the command line, where a box of the console is typed as a word. */
export const typedHelp = ({ help, form }: Field<unknown>): string =>
  form?.none === undefined ? help : `${help}, or "none"`;

export type Fields = Readonly<Record<string, Field<unknown>>>;
export type ValuesOf<F extends Fields> = { [name in keyof F]: F[name] extends Field<infer T> ? T : never };

/** How one text is read. @throws Wrong */
export type Kind<T> = (text: string) => T;
type More = Pick<Field<unknown>, 'conflicts' | 'form'>;

const only = (raw: Raw): string => (typeof raw === 'string' ? raw : '');

export const word = <T>(name: string, kind: Kind<T>, help: string): Field<T> => ({
  ...{ flags: `<${name}>`, help, required: true, read: (raw) => kind(only(raw)) },
});

const ifGiven =
  <T>(kind: Kind<T>) =>
  (raw: Raw): T | undefined =>
    raw === undefined ? undefined : kind(only(raw));

export const optionalWord = <T>(name: string, kind: Kind<T>, help: string): Field<T | undefined> => ({
  ...{ flags: `[${name}]`, help, required: false, read: ifGiven(kind) },
});

export const words = <T>(name: string, kind: Kind<T>, help: string): Field<T[]> => ({
  ...{ flags: `[${name}...]`, help, required: false },
  // A form of the console names one.
  read: (raw) => [raw].flat().flatMap((one) => (typeof one === 'string' ? [kind(one)] : [])),
});

export const option = <T>(flags: string, kind: Kind<T>, help: string, more: More = {}): Field<T | undefined> => ({
  ...{ flags, help, required: false, read: ifGiven(kind), ...more },
});

export const needed = <T>(flags: string, kind: Kind<T>, help: string, more: More = {}): Field<T> => ({
  ...{ flags, help, required: true, read: (raw) => kind(only(raw)), ...more },
});

export const numberOr = (flags: string, byDefault: number, help: string, kind = count): Field<number> => ({
  ...{ flags, help, required: false, byDefault: String(byDefault) },
  read: (raw) => (raw === undefined ? byDefault : kind(only(raw))),
});

export const flag = (flags: string, help: string, more: More = {}): Field<boolean> => ({
  ...{ flags, help, required: false, read: (raw) => raw === true, ...more },
});

const oneOf =
  <T extends string>(choices: readonly T[]): Kind<T> =>
  (text) => {
    const chosen = choices.find((one) => one === text);
    if (chosen === undefined) throw new Wrong(`must be one of ${choices.join(', ')}`);
    return chosen;
  };

export const choice = <const T extends string>(
  flags: string,
  choices: readonly T[],
  help: string,
  more: More = {},
): Field<T | undefined> => ({ ...option(flags, oneOf(choices), help, more), choices });

/** One of a few, which must be given unless there is a default. */
export const choiceOf = <const T extends string>(
  flags: string,
  choices: readonly T[],
  help: string,
  { byDefault, ...more }: More & { byDefault?: NoInfer<T> } = {},
): Field<T> => ({
  ...{
    flags,
    help,
    choices,
    required: byDefault === undefined,
    ...(byDefault !== undefined && { byDefault }),
    ...more,
  },
  read: (raw) => oneOf(choices)(raw === undefined ? (byDefault ?? '') : only(raw)),
});

export const anyText: Kind<string> = (text) => text;

const checked =
  (isRight: (text: string) => boolean, expected: string): Kind<string> =>
  (text) => {
    if (isRight(text)) return text;
    throw new Wrong(`expected ${expected}.`);
  };

/** Catches ids given in the wrong place, before a service is asked. */
const id = (prefix: IdPrefix): Kind<string> =>
  checked((text) => isId(prefix, text), `${prefix}_ and 32 lowercase hexadecimal characters`);

export const merchantId = id('mer');
export const paymentId = id('pay');
export const eventId = id('evt');
export const eventOrPaymentId = checked(
  (text) => isId('evt', text) || isId('pay', text),
  'evt_ or pay_ and 32 lowercase hexadecimal characters',
);

export const PERSON_NAME_MAX = 40;

/** The name of an operator, or of a merchant's person. */
export const personName = checked(
  (text) => new RegExp(OPERATOR_NAME).test(text),
  '2 to 40 of a-z, 0-9, dot, hyphen and underscore, the first a letter',
);

/** @returns the canonical spelling, so that a service is asked for one address in one way. */
export const address: Kind<string> = (text) => {
  const parsed = parseAddress(text);
  if (parsed !== null) return parsed.address;
  throw new Wrong(
    'expected 0x and 40 hexadecimal characters, in mixed case only with the right checksum, or T and 33 for Tron.',
  );
};

/** Explorers write it with 0x, our own answers without. @returns 64 lowercase hexadecimal characters. */
export const transactionId: Kind<string> = (text) => {
  const parsed = parseTransactionId(text);
  if (parsed !== null) return parsed;
  throw new Wrong('expected 64 hexadecimal characters, with or without 0x before them.');
};

/** A time in UTC, as the tables and the JSON write it. @returns RFC 3339. */
export const moment: Kind<string> = (text) => {
  const time = parseRfc3339(text.replace(' ', 'T'));
  if (time !== null) return rfc3339(time);
  throw new Wrong('expected a time in UTC such as 2026-01-31T12:00:00.000Z.');
};

export const day = checked((text) => parseRfc3339(`${text}T00:00:00Z`) !== null, 'a day such as 2026-01-31');

const DAY_MS = 86_400_000;

/** A time in UTC, or a day for its start or its end. @returns RFC 3339. */
export const dayOrMoment =
  (ofDay: 'start' | 'end'): Kind<string> =>
  (text) => {
    const found = parseRfc3339(`${text}T00:00:00Z`);
    if (found !== null) return rfc3339(ofDay === 'start' ? found : new Date(found.getTime() + DAY_MS));
    const time = parseRfc3339(text.replace(' ', 'T'));
    if (time !== null) return rfc3339(time);
    throw new Wrong('expected a day or a time in UTC, such as 2026-01-31 or 2026-01-31T12:00:00Z.');
  };

/** @returns the first moment of the month, RFC 3339. */
export const month: Kind<string> = (text) => {
  const start = parseRfc3339(`${text}-01T00:00:00Z`);
  if (start !== null) return rfc3339(start);
  throw new Wrong('expected a month such as 2026-01.');
};

export const count: Kind<number> = (text) => {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new Wrong('must be a whole number, 0 or more');
};

export const positive: Kind<number> = (text) => {
  const number = count(text);
  if (number > 0) return number;
  throw new Wrong('must be a whole number, 1 or more');
};

/** A daily limit can also be taken away. */
export const countOrNone: Kind<number | null> = (text) => (text === 'none' ? null : count(text));
