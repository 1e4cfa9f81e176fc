import { AMOUNT_PATTERN } from '@quittance/contracts/amount.ts';
import { html, type Html } from './html.ts';
import type { Language } from './languages.ts';

const amountPattern = new RegExp(AMOUNT_PATTERN);

/**
 * An amount as people write it where the language is spoken: "1234.50" → "1234,50". All digits stay, trailing zeros too, because
 * the payer has to send exactly this; that is why it never becomes a JS number. Thousands are not marked: the mark of one language
 * is the decimal point of another, and "1.234" typed into a wallet is little more than one. Holds no direction marks.
 * @throws RangeError for what is no amount of the contract.
 */
export function formatAmount(language: Language, amount: string): string {
  if (!amountPattern.test(amount)) throw new RangeError(`not an amount: ${amount}`);
  return formatDecimal(language, amount);
}

/** The same for what a transfer carried, which may have as many decimals as its token: 18 on BNB Chain. */
export function formatTransferred(language: Language, amount: string): string {
  if (!/^\d+(\.\d+)?$/.test(amount)) throw new RangeError(`not what a transfer carries: ${amount}`);
  return formatDecimal(language, amount);
}

/**
 * The same with groups of digits set apart by the stylesheet, as the language groups them. A mark between them would be the decimal
 * point of another language, and would be copied along; a gap is neither.
 */
export function groupedAmount(language: Language, formatted: string): Html {
  const [, whole = '', rest = ''] = /^(\p{Nd}*)(.*)$/su.exec(formatted) ?? [];
  const digits = Array.from(whole);
  const sizes = groupSizes(language, digits.length);
  const groups = sizes.map((size) => digits.splice(0, size).join(''));
  const last = groups.pop() ?? '';
  return html`${groups.map((group) => html`<span class="digits">${group}</span>`)}${last}${rest}`;
}

/** How many digits stand in each group: "1,234,567" → 1, 3, 3. */
const groupSizes = ({ locale }: Language, digits: number): number[] =>
  new Intl.NumberFormat(locale)
    .formatToParts(10n ** BigInt(Math.max(0, digits - 1)))
    .filter(({ type }) => type === 'integer')
    .map(({ value }) => Array.from(value).length);

function formatDecimal(language: Language, amount: string): string {
  const decimals = amount.split('.')[1]?.length ?? 0;
  const format = new Intl.NumberFormat(language.locale, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    useGrouping: false,
  });
  // Intl reads decimal text exactly; its type accepts only literals.
  return format.format(amount as Intl.StringNumericLiteral);
}

/** A count in the language's digits. */
export const formatNumber = (language: Language, count: number): string =>
  new Intl.NumberFormat(language.locale).format(count);

/** Date and time of day in UTC, which it says: "Jan 31, 2026, 09:05 UTC". @param time RFC 3339. */
export function formatUtcTime(language: Language, time: string): string {
  return new Intl.DateTimeFormat(language.locale, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
    timeZoneName: 'short',
  }).format(new Date(time));
}

/**
 * "29:05", with hours "1:00:05". The page's script writes the next ones in the same way: numbers of the locale, two digits long
 * except the first, with colons between them.
 * @param seconds the whole ones count; less than none is none.
 */
export function formatCountdown(language: Language, seconds: number): string {
  const left = Math.max(0, Math.floor(seconds));
  const hours = Math.floor(left / 3600);
  const minutes = Math.floor(left / 60) % 60;
  const twoDigits = new Intl.NumberFormat(language.locale, { minimumIntegerDigits: 2 });
  const parts = [twoDigits.format(minutes), twoDigits.format(left % 60)];
  return hours === 0 ? parts.join(':') : [formatNumber(language, hours), ...parts].join(':');
}

/**
 * Puts values where a text has their `{name}`. Values are escaped unless they are HTML already; the text is escaped as well.
 * @throws Error when the text names a value that is not given, or does not name one that is: both are mistakes in a translation
 * or in the page, and would hide something from the payer.
 */
export function fill(text: string, values: Record<string, string | Html>): Html {
  const unused = new Set(Object.keys(values));
  const pieces = text.split(/\{(\w+)\}/).map((piece, position) => {
    if (position % 2 === 0) return html`${piece}`;
    const value = Object.hasOwn(values, piece) ? values[piece] : undefined;
    if (value === undefined) throw new Error(`the text "${text}" has {${piece}}, for which no value is given`);
    unused.delete(piece);
    return html`${value}`;
  });
  if (unused.size > 0) throw new Error(`the text "${text}" has no place for ${[...unused].join(', ')}`);
  return html`${pieces}`;
}
