import { defineCall, json } from '../../call.ts';
import { timestampSchema } from '../../timestamp.ts';

/** Where a network stands. The heights up to which transfers are final are null near genesis, and absent in answers of older releases. */
export type NetworkTip = {
  network: string;
  /** Of the last scanned block. */
  height: number;
  final_height?: number | null;
  /** The same for transfers above the network's `finalized_above_amount`. */
  large_final_height?: number | null;
  /**
   * Whether money that comes is not noticed just now: the network is halted, or no look has read everything up to its head for a minute longer
   * than it should. A network that is not in the answer is not read either. Absent in answers of older releases.
   */
  unreadable?: boolean;
};

/** `clock`: the time of chain-watcher's database, RFC 3339 UTC. Absent in answers of older releases. */
export type TipsResponse = { tips: NetworkTip[]; clock?: string };

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
      clock: timestampSchema,
      tips: {
        type: 'array',
        items: {
          type: 'object',
          required: ['network', 'height'],
          properties: {
            network: { type: 'string' },
            height: { type: 'integer', minimum: 0 },
            final_height: { type: ['integer', 'null'] },
            large_final_height: { type: ['integer', 'null'] },
            unreadable: { type: 'boolean' },
          },
        },
      },
    },
  }),
);
