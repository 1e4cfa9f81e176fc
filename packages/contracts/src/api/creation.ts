import { query } from '../query.ts';
import { currencyCodes, priceProblem } from '../rates.ts';
import type { TypeOf } from '../schema.ts';
import { returnUrlProblem } from './return-url.ts';

/*
 * The request that creates a payment. Each field is defined only here: the gateway's check, the internal call, the
 * saved fingerprint, the payment's columns, the events, the export and docs/openapi.yaml are derived from it
 * (docs/how/add-a-field.md).
 */

/** A deployment's settings for the optional fields. */
export type OptionRules = {
  /** Bounds of `expires_in`, in seconds. */
  expiresIn: { min: number; max: number };
  /** Whether `return_url` may point to a shop on the same machine. */
  localReturnUrls: boolean;
};

/** Required unless there is a `price`. */
export const amount = {
  description:
    'The amount in USDT, as decimal text: greater than zero, at most 12 digits before the point and 6 after ' +
    'it, without sign, exponent or leading zeros. On a wallet that payments share, only a transfer of exactly ' +
    'this amount pays the payment. Instead of it, `price` may be sent.',
  type: 'string',
  pattern: '^(0|[1-9]\\d{0,11})(\\.\\d{1,6})?$',
} as const;

/**
 * The required field of a creation, as JSON Schema with the public description. The gateway checks what a value means.
 */
export const required = {
  description: {
    description:
      'Shown on the checkout page and repeated in events: 1 to 500 characters in Unicode NFC, without ' +
      'control characters and characters that reorder text. Anyone with the link can read it: do not include ' +
      'personal data or secrets.',
    type: 'string',
    minLength: 1,
  },
} as const;

/** Required unless there is a `wallet_pool`. */
export const merchantWallet = {
  description:
    'The address that receives the money; instead of it, `wallet_pool` may be sent. An EVM address must be all ' +
    'lowercase, all uppercase, or have a valid EIP-55 checksum; responses have the checksum. The zero address, ' +
    'the USDT contract, and addresses of networks that this installation does not watch are rejected.',
  type: 'string',
  pattern: '^(0x[0-9A-Fa-f]{40}|T[1-9A-HJ-NP-Za-km-z]{33})$',
} as const;

export const network = {
  description:
    'The network on which the customer pays. If omitted, it follows from the address; for an EVM address it ' +
    "is the installation's default network. A wallet pool has its own network.",
  type: 'string',
  pattern: '^[a-z][a-z0-9-]{0,31}$',
} as const;

/** An amount in a currency other than USDT. */
export const price = {
  description: 'A price in a currency other than USDT.',
  type: 'object',
  required: ['amount', 'currency'],
  properties: {
    amount: {
      description:
        'Decimal text above zero, with at most 12 digits before the point and as many after it as the currency has in ISO 4217.',
      type: 'string',
      pattern: '^(0|[1-9]\\d{0,11})(\\.\\d{1,2})?$',
    },
    currency: {
      description: 'ISO 4217: the euro, or a currency with a reference rate of the European Central Bank.',
      type: 'string',
      enum: currencyCodes,
    },
  },
} as const;

/** The merchant's own names and values. */
export const metadata = {
  description:
    'Your own names and values, at most 20 of them and 4,096 bytes as JSON. A name has 1 to 40 letters, ' +
    'digits, `_`, `.` and `-`, and is not `__proto__`, `constructor` or `prototype`. A value is text of at ' +
    'most 500 characters without U+0000. Only you can read it. Do not include personal data.',
  type: 'object',
  maxProperties: 20,
  propertyNames: { pattern: '^(?!(__proto__|constructor|prototype)$)[A-Za-z0-9_.-]{1,40}$' },
  additionalProperties: { type: 'string', maxLength: 500 },
} as const;

export type PaymentMetadata = Record<string, string>;

/** An optional field. */
type Option = {
  /** As the merchant sends it: JSON Schema with the public description. */
  asked: object;
  /** As services and messages transmit it. */
  wire: { type: string } & Record<string, unknown>;
  /**
   * The type of the payment's column, which is null if the merchant didn't send the field. Absent for a field that
   * isn't stored.
   */
  column?: 'text' | 'jsonb' | 'integer';
  /** As the payment shows it; only for a field with a column. */
  shown?: object;
  /** What the payment shows if the merchant didn't send it. */
  absent?: unknown;
  /** As events repeat it, if the payment has it. */
  inEvents?: object;
  /** Whether the value means the same as leaving the field out. */
  isDefault?(value: never): boolean;
  /** Why the gateway refuses a value of the right JSON type; null when it accepts it. */
  problem(value: never, rules: OptionRules, creation: Record<string, unknown>): string | null;
};

/** The name of a wallet pool. */
export const POOL_NAME_PATTERN = '^[a-z0-9-]{1,40}$';
const isPoolName = new RegExp(POOL_NAME_PATTERN);

/** In the order of fingerprints, events and payments: append new ones. */
export const options = {
  order_id: {
    asked: {
      description:
        'Your id for the order: 1 to 128 characters, none of them invisible or a control character, not necessarily unique. Only you can read ' +
        'it, in the payment and its events; it is not on the checkout page or in the public status.',
      type: 'string',
      minLength: 1,
      maxLength: 128,
    },
    wire: { type: 'string', minLength: 1, maxLength: 128 },
    column: 'text',
    shown: {
      description: 'Your id for the order, as you sent it, or null.',
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 128,
    },
    inEvents: { description: 'As you sent it.', type: 'string', minLength: 1, maxLength: 128 },
    problem: (text: string) => (query.orderId.parse(text) === null ? query.orderId.reason : null),
  },
  metadata: {
    asked: { $ref: '#/components/schemas/Metadata' },
    wire: { type: 'object', additionalProperties: { type: 'string' } },
    column: 'jsonb',
    shown: { description: 'As you sent it; an empty object if you sent none.', $ref: '#/components/schemas/Metadata' },
    absent: {},
    inEvents: { $ref: '#/components/schemas/Metadata' },
    isDefault: (value: PaymentMetadata) => Object.keys(value).length === 0,
    problem: metadataProblem,
  },
  return_url: {
    asked: {
      description:
        'The link back to your shop, which the checkout page shows in every state of the payment: an absolute ' +
        '`https:` URL of at most 2,000 characters, without credentials, white space, control characters and ' +
        'backslashes. We never fetch it. An installation that is itself reached by `http:` also accepts ' +
        '`http://localhost` and `http://127.0.0.1`.',
      type: 'string',
      format: 'uri',
      maxLength: 2000,
    },
    wire: { type: 'string', minLength: 1 },
    column: 'text',
    shown: {
      description: 'The link back to your shop, as you sent it, or null.',
      type: ['string', 'null'],
      format: 'uri',
      maxLength: 2000,
    },
    problem: (text: string, { localReturnUrls }) => returnUrlProblem(text, localReturnUrls),
  },
  expires_in: {
    asked: {
      description:
        'How many seconds the payment waits for its transfer. If omitted, the default of the installation ' +
        'applies. The installation also sets the minimum and the maximum, usually 300 and 86,400.',
      type: 'integer',
      minimum: 1,
      maximum: 86400,
    },
    wire: { type: 'integer', minimum: 1, maximum: 86_400 },
    problem: (seconds: number, { expiresIn: { min, max } }) =>
      seconds >= min && seconds <= max ? null : `must be from ${min} to ${max} seconds`,
  },
  unique_amount: {
    asked: {
      description:
        'Lets several customers pay the same price to the same address at the same time. The service adds less ' +
        'than 0.01 USDT, and never zero. `amount` is then what your customer must send, with four decimals, or ' +
        'six if all 99 amounts with four are in use; `requested_amount` is what you sent. The `amount` that you ' +
        'send may have at most two decimals.\n\nAn amount is not used again until 24 hours after its payment ' +
        "ended, so that a late transfer does not pay the next customer's payment. Abandoned carts therefore use " +
        'up amounts: keep `expires_in` short, cancel payments that nobody will pay, or use more wallets. If no ' +
        'amount is free, the answer is 409.\n\nDo not mix payments with and without `unique_amount` on one ' +
        'address: while a payment of one kind is unfinished, a payment of the other kind for the same price is ' +
        'refused with 409. A customer who omits the last digits has paid too little, and pays no other payment.',
      type: 'boolean',
      default: false,
    },
    wire: { type: 'boolean' },
    isDefault: (value: boolean) => !value,
    // An invalid amount is reported for its own field.
    problem: (isUnique: boolean, _, { amount }) =>
      isUnique && typeof amount === 'string' && /\.\d{3}/.test(amount)
        ? 'needs an amount of at most two decimals'
        : null,
  },
  wallet_pool: {
    asked: {
      description:
        'The name of one of your wallet pools, instead of `merchant_wallet`. The payment gets an address of the ' +
        'pool for itself, as with `dedicated_wallet`. If no address is free, the answer is 409 with the code ' +
        '`wallet_pool_exhausted`.',
      type: 'string',
      pattern: POOL_NAME_PATTERN,
    },
    wire: { type: 'string', pattern: POOL_NAME_PATTERN },
    problem(name: string, _, { merchant_wallet: wallet, unique_amount: isUnique }) {
      if (wallet !== undefined) return 'must not be sent together with merchant_wallet';
      if (isUnique === true) return 'cannot be combined with unique_amount';
      return isPoolName.test(name) ? null : 'must be 1 to 40 lowercase letters, digits and hyphens';
    },
  },
  dedicated_wallet: {
    asked: {
      description:
        'Gives this payment the address in `merchant_wallet` for itself: all transfers to it count together, ' +
        'whatever their amounts. While the payment is unfinished, and for 24 hours after its end, no other ' +
        'payment can be created on the address (409, `wallet_dedicated`). If a payment on it is unfinished or ' +
        'rests, or another kind of payment was on it in the last 30 days, the answer is 409 with the code ' +
        '`wallet_in_use`. Payments of a `wallet_pool` are always dedicated.',
      type: 'boolean',
      default: false,
    },
    wire: { type: 'boolean' },
    isDefault: (value: boolean) => !value,
    problem: (isDedicated: boolean, _, { unique_amount: isUnique }) =>
      isDedicated && isUnique === true ? 'cannot be combined with unique_amount' : null,
  },
  accept_from_percent: {
    asked: {
      description:
        'Only for a payment with an address of its own: the part of `amount` that is enough, in percent. When ' +
        'the transfers to the address add up to it, the payment is `PAID`.',
      type: 'integer',
      minimum: 50,
      maximum: 100,
      default: 100,
    },
    wire: { type: 'integer', minimum: 50, maximum: 100 },
    column: 'integer',
    shown: {
      description: 'The part of `amount` that is enough, in percent, if you sent one below 100; otherwise null.',
      type: ['integer', 'null'],
      minimum: 50,
      maximum: 100,
    },
    isDefault: (value: number) => value === 100,
    problem: (percent: number, _, { dedicated_wallet: isDedicated, wallet_pool: pool }) => {
      if (percent < 50 || percent > 100) return 'must be from 50 to 100';
      const isAlone = isDedicated === true || pool !== undefined || percent === 100;
      return isAlone ? null : 'is only for a payment with an address of its own: see dedicated_wallet and wallet_pool';
    },
  },
  price: {
    asked: {
      description:
        'What the customer owes in another currency, instead of `amount`. The service converts it to USDT when the ' +
        'payment is created, by the rate that `GET /rates` shows then, and rounds up to cents. The result is in ' +
        '`amount` and `requested_amount`, and the rate stays with the payment: a repeated request gets the first one. ' +
        'While there is no rate, the answer is 503 with the code `rate_unavailable`, and nothing is stored.',
      $ref: '#/components/schemas/Price',
    },
    wire: {
      type: 'object',
      required: ['amount', 'currency'],
      properties: { amount: { type: 'string', minLength: 1 }, currency: { type: 'string', minLength: 1 } },
    },
    column: 'jsonb',
    shown: {
      description: 'The price, as you sent it, or null.',
      anyOf: [{ $ref: '#/components/schemas/Price' }, { type: 'null' }],
    },
    inEvents: { $ref: '#/components/schemas/Price' },
    problem: (value: Record<string, unknown>, _, { amount: asked }) =>
      asked === undefined ? priceProblem(value) : 'must not be sent together with amount',
  },
} as const satisfies Record<string, Option>;

const METADATA_MAX_MEMBERS = 20;
const METADATA_MAX_BYTES = 4096;
const VALUE_MAX_CHARACTERS = 500;
const namePattern = /^[A-Za-z0-9_.-]{1,40}$/;
/** Could change an object's prototype in careless code that reads our answers. */
const namesOfPrototypes = ['__proto__', 'constructor', 'prototype'];

function metadataProblem(values: Record<string, unknown>): string | null {
  const members = Object.entries(values);
  if (members.length > METADATA_MAX_MEMBERS) return `must have at most ${METADATA_MAX_MEMBERS} members`;
  if (!members.every(([name]) => namePattern.test(name) && !namesOfPrototypes.includes(name))) {
    return 'must have names of 1 to 40 letters, digits, _, . and -, none of them __proto__, constructor or prototype';
  }
  if (!members.every(([, text]) => typeof text === 'string' && isStorable(text))) {
    return `must have as values strings of at most ${VALUE_MAX_CHARACTERS} characters, in valid Unicode and without U+0000`;
  }
  const isSmall = Buffer.byteLength(JSON.stringify(values)) <= METADATA_MAX_BYTES;
  return isSmall ? null : `must have at most ${METADATA_MAX_BYTES} bytes as JSON`;
}

/** PostgreSQL can store neither U+0000 nor half a surrogate pair. */
const isStorable = (text: string): boolean =>
  Array.from(text).length <= VALUE_MAX_CHARACTERS && text.isWellFormed() && !text.includes('\0');

type Options = typeof options;
export type OptionName = keyof Options;
type OptionValues = { -readonly [N in OptionName]: TypeOf<Options[N]['wire']> };

/** The fields that are columns of the payment. */
export type KeptName = { [N in OptionName]: Options[N] extends { column: string } ? N : never }[OptionName];
/** Their values in the payment's row. */
export type KeptValues = { [N in KeptName]: OptionValues[N] | null };

/** The fields that events repeat. */
export type EventName = { [N in OptionName]: Options[N] extends { inEvents: object } ? N : never }[OptionName];
export type EventValues = { [N in EventName]?: OptionValues[N] };

/** The options, for code that treats them all the same. */
export const optionEntries = Object.entries(options) as [OptionName, Option][];
const namesWith = <N extends OptionName>(key: keyof Option): N[] =>
  optionEntries.filter(([, option]) => key in option).map(([name]) => name as N);
export const keptNames = namesWith<KeptName>('column');
export const eventNames = namesWith<EventName>('inEvents');

/** The values of a payment whose merchant sent none of them. */
export const noOptions = Object.fromEntries(keptNames.map((name) => [name, null])) as KeptValues;

/** One part of the definition of each named option. */
export const optionParts = <N extends OptionName, K extends keyof Option>(names: readonly N[], key: K) =>
  Object.fromEntries(names.map((name) => [name, (options[name] as Option)[key]])) as {
    [name in N]: K extends keyof Options[name] ? Options[name][K] : undefined;
  };

/**
 * A validated creation: canonical wallet, description in Unicode NFC, network chosen. Two request bodies are the same
 * when these are. An option is left out if its value means the same as leaving it out.
 */
export type CreationRequest = {
  /** Absent with a `price`. */
  amount?: string;
  /** Absent with a `wallet_pool`, which gives the payment an address. */
  merchant_wallet?: string;
  description: string;
  /** May be absent with a `wallet_pool`, which has a network. */
  network?: string;
} & Partial<OptionValues>;

/** docs/openapi.yaml, components.schemas.PaymentCreation. */
export const paymentCreation = {
  description: 'The payment to create. Unknown fields are refused.',
  type: 'object',
  additionalProperties: false,
  required: Object.keys(required),
  allOf: [
    { oneOf: [{ required: ['amount'] }, { required: ['price'] }] },
    { oneOf: [{ required: ['merchant_wallet'] }, { required: ['wallet_pool'] }] },
  ],
  properties: {
    amount,
    ...required,
    merchant_wallet: merchantWallet,
    network,
    ...optionParts(Object.keys(options) as OptionName[], 'asked'),
  },
};
