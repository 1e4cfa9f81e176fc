import type { QueryParameter } from './call.ts';
import { parseAmount } from './amount.ts';
import { isId, parseTransactionId, type IdPrefix } from './ids.ts';
import { parseRfc3339 } from './timestamp.ts';

/** Two ids that look the same must be the same: nothing that is drawn as nothing, or that reorders text. A space is drawn. */
const orderId = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]{1,128}$/u;

/** The types of query parameters. */
export const query = {
  /** PostgreSQL stores no NUL. */
  text: {
    parse: (text: string): string | null => (text.includes('\0') ? null : text),
    reason: 'must be text without NUL',
  },

  /** A point in time, such as the end of a page of older entries. */
  timestamp: { parse: parseRfc3339, reason: 'must be a time such as 2026-01-31T12:00:00.000Z' },

  /** A UTC day, as its midnight. */
  day: { parse: (text: string) => parseRfc3339(`${text}T00:00:00Z`), reason: 'must be a day such as 2026-01-31' },

  transactionId: {
    parse: parseTransactionId,
    reason: 'must be 64 hexadecimal characters, with or without 0x before them',
  },

  /** A merchant's own id for its order. */
  orderId: {
    parse: (text: string): string | null => (orderId.test(text) ? text : null),
    reason: 'must be 1 to 128 characters, none of them invisible or a control character',
  },

  /** An amount in millionths of a USDT. */
  amount: { parse: parseAmount, reason: 'must be an amount such as 49.90' },

  /** What a person looks for, in the form in which merchants' texts are stored. */
  searchText: {
    parse: (text: string): string | null => {
      const sought = text.trim().normalize('NFC');
      return sought !== '' && Array.from(sought).length <= 500 && !sought.includes('\0') ? sought : null;
    },
    reason: 'must be 1 to 500 characters, none of them NUL',
  },

  oneOf: <const T extends string>(...values: readonly T[]): QueryParameter<T> => ({
    parse: (text) => values.find((value) => value === text) ?? null,
    reason: `must be ${values.length > 2 ? `one of ${values.join(', ')}` : values.join(' or ')}`,
  }),

  /** @param what the object that has the id, with its article. */
  id: (prefix: IdPrefix, what: string): QueryParameter<string> => ({
    parse: (text) => (isId(prefix, text) ? text : null),
    reason: `must be ${what} id`,
  }),

  integer: (min: number, max: number): QueryParameter<number> => ({
    parse: (text) =>
      /^(0|[1-9]\d{0,14})$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : null,
    reason: `must be a whole number from ${min} to ${max}`,
  }),
};
