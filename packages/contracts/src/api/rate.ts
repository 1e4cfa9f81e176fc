import { RATE_PATTERN, rateSources } from '../rates.ts';
import { timestampSchema } from '../timestamp.ts';

/** Of a rate, and of each source. */
const rateText = { type: 'string', pattern: RATE_PATTERN } as const;

export const rate = {
  description: 'The rate of a price in another currency.',
  type: 'object',
  required: ['value', 'as_of', 'sources'],
  properties: {
    value: { ...rateText, description: 'USDT for one unit of the currency.' },
    as_of: {
      description: 'The time of the oldest price of an exchange that it is made of.',
      $ref: '#/components/schemas/Timestamp',
    },
    sources: {
      description:
        'What it is made of. The rate is 1 divided by the median price of the exchanges and by the value of `ecb`, ' +
        'where it is part of it, rounded to six digits.',
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'value', 'as_of'],
        properties: {
          name: { type: 'string', enum: rateSources },
          value: {
            ...rateText,
            description:
              'As the source publishes it. Of an exchange: the price of one USDT in euros, or in dollars if the price ' +
              'is in dollars. Of `ecb`: how much of the currency one euro costs.',
          },
          as_of: { $ref: '#/components/schemas/Timestamp' },
        },
      },
    },
  },
} as const;

/** As services and messages transmit it. */
export const rateWire = {
  type: 'object',
  required: ['value', 'as_of', 'sources'],
  properties: {
    value: rateText,
    as_of: timestampSchema,
    sources: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'value', 'as_of'],
        properties: { name: { type: 'string' }, value: rateText, as_of: timestampSchema },
      },
    },
  },
} as const;

/** More than all sources have: 30 currencies of the bank, and two of each exchange. */
export const QUOTES_MAX = 100;

/** What one source said about one currency. */
export const quoteSchema = {
  type: 'object',
  required: ['source', 'currency', 'value', 'as_of'],
  properties: {
    source: { type: 'string', enum: rateSources },
    currency: { type: 'string', pattern: '^[A-Z]{3}$' },
    /** Of an exchange: how much of the currency one USDT costs. Of the bank: how much of it one euro costs. */
    value: { type: 'string', pattern: RATE_PATTERN },
    /** Of the price, as the source says it, else when it was read. */
    as_of: timestampSchema,
  },
} as const;
