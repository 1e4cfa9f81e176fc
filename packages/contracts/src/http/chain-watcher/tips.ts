import { defineCall, json } from '../../call.ts';

export type TipsResponse = { tips: { network: string; height: number }[] };

/**
 * The last scanned block of every enabled network, from which confirmations are counted. A network of which nothing is scanned yet is
 * left out; a halted one keeps its height. Payments reads it every second while a payment waits for confirmations.
 */
export const ReadTips = defineCall(
  'chain-watcher',
  'GET /tips',
  json<TipsResponse>({
    type: 'object',
    required: ['tips'],
    properties: {
      tips: {
        type: 'array',
        items: {
          type: 'object',
          required: ['network', 'height'],
          properties: { network: { type: 'string' }, height: { type: 'integer', minimum: 0 } },
        },
      },
    },
  }),
);
