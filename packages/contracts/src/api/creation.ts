import { query } from '../query.ts';
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

/**
 * The required fields of a creation, as JSON Schema with the public description. The gateway checks what a value means.
 */
export const required = {
  amount: {
    description:
      'How much, in USDT: decimal text above zero, at most 12 digits before the point and 6 after it, no ' +
      'sign, no exponent, no leading zeros. Only a transfer of exactly this amount pays the payment.',
    type: 'string',
    pattern: '^(0|[1-9]\\d{0,11})(\\.\\d{1,6})?$',
  },
  merchant_wallet: {
    description:
      'Your address. An EVM address is all lowercase, all uppercase or carries its EIP-55 checksum, and ' +
      'comes back with it. The zero address and the USDT contract are refused, and so is a kind of address ' +
      'for which this installation watches no network.',
    type: 'string',
    pattern: '^(0x[0-9A-Fa-f]{40}|T[1-9A-HJ-NP-Za-km-z]{33})$',
  },
  description: {
    description:
      'Shown to your customer and repeated in the event: 1 to 500 characters in Unicode NFC, without ' +
      'control characters and without characters that reorder text. Everybody with the link sees it, so ' +
      'put in neither personal data nor secrets.',
    type: 'string',
    minLength: 1,
  },
} as const;

export const network = {
  description:
    'On which network the money comes. Without it, the address decides; for an EVM address it is the ' +
    "installation's default.",
  type: 'string',
  pattern: '^[a-z][a-z0-9-]{0,31}$',
} as const;

/** The merchant's own names and values. */
export const metadata = {
  description:
    'Whatever you want to find beside the payment, at most 20 members and 4,096 bytes as JSON. Names ' +
    'have 1 to 40 letters, digits, `_`, `.` and `-`, and are not `__proto__`, `constructor` or ' +
    '`prototype`; values have at most 500 characters, and not U+0000. Only you see it. Put no personal ' +
    'data in it.',
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
  column?: 'text' | 'jsonb';
  /** As the payment shows it; only for a field with a column. */
  shown?: object;
  /** What the payment shows if the merchant didn't send it. */
  absent?: unknown;
  /** As events repeat it, if the payment has it. */
  inEvents?: object;
  /** Whether the value means the same as leaving the field out. */
  isDefault?(value: never): boolean;
  /** Why the gateway refuses a value of the right JSON type; null when it accepts it. */
  problem(value: never, rules: OptionRules, creation: { amount?: unknown }): string | null;
};

/** In the order of fingerprints, events and payments: append new ones. */
export const options = {
  order_id: {
    asked: {
      description:
        'Your own name for the order, 1 to 128 printable ASCII characters. It need not be unique. Only you ' +
        'see it: it is in the payment and in its event, and neither on the page nor in the public status.',
      type: 'string',
      pattern: '^[\\x20-\\x7e]{1,128}$',
    },
    wire: { type: 'string', minLength: 1, maxLength: 128 },
    column: 'text',
    shown: {
      description: 'Your own name for the order, as you sent it, else null.',
      type: ['string', 'null'],
      pattern: '^[\\x20-\\x7e]{1,128}$',
    },
    inEvents: { description: 'As you sent it.', type: 'string', minLength: 1, maxLength: 128 },
    problem: (text: string) => (query.orderId.parse(text) === null ? query.orderId.reason : null),
  },
  metadata: {
    asked: { $ref: '#/components/schemas/Metadata' },
    wire: { type: 'object', additionalProperties: { type: 'string' } },
    column: 'jsonb',
    shown: { description: 'As you sent it; an empty object without one.', $ref: '#/components/schemas/Metadata' },
    absent: {},
    inEvents: { $ref: '#/components/schemas/Metadata' },
    isDefault: (value: PaymentMetadata) => Object.keys(value).length === 0,
    problem: metadataProblem,
  },
  return_url: {
    asked: {
      description:
        'Where the page leads your customer back to, in every state of the payment: an absolute `https:` URL ' +
        'of at most 2,000 characters without credentials, white space, control characters and backslashes. ' +
        'We never fetch it. Where this installation is itself reached by `http:`, `http://localhost` and ' +
        '`http://127.0.0.1` are allowed too.',
      type: 'string',
      format: 'uri',
      maxLength: 2000,
    },
    wire: { type: 'string', minLength: 1 },
    column: 'text',
    shown: {
      description: 'Where the page leads back to, as you sent it, else null.',
      type: ['string', 'null'],
      format: 'uri',
      maxLength: 2000,
    },
    problem: (text: string, { localReturnUrls }) => returnUrlProblem(text, localReturnUrls),
  },
  expires_in: {
    asked: {
      description:
        "For how many seconds the payment waits for its money. Without it, the installation's default; its " +
        "bounds are the installation's, as a rule 300 and 86,400.",
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
        'Lets many customers pay the same price to the same address at the same time. The service adds less ' +
        'than 0.01 USDT, never nothing: `amount` is then what your customer has to send, with four decimals, ' +
        'or six when the 99 amounts with four are used up, and `requested_amount` is what you sent. Your ' +
        '`amount` may have at most two decimals here.\n\nAn amount that was given rests for 24 hours after its ' +
        'payment has ended, without exception, so that late money does not pay the next customer. Abandoned ' +
        'carts therefore use up amounts: keep `expires_in` short, cancel payments that nobody will pay, or ' +
        'use more wallets. When no amount is free the creation is 409.\n\nDo not mix payments with and without ' +
        '`unique_amount` on one address: while one kind is unfinished for a price, creating the other is ' +
        '409. A customer who leaves out the last digits has paid too little, and pays no other payment.',
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
  amount: string;
  merchant_wallet: string;
  description: string;
  network: string;
} & Partial<OptionValues>;

/** docs/openapi.yaml, components.schemas.PaymentCreation. */
export const paymentCreation = {
  description: 'What you ask for. Other fields than these are refused.',
  type: 'object',
  additionalProperties: false,
  required: Object.keys(required),
  properties: { ...required, network, ...optionParts(Object.keys(options) as OptionName[], 'asked') },
};
