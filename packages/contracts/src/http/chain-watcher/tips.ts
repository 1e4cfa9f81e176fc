import { defineCall, json } from '../../call.ts';
import { timestampSchema } from '../../timestamp.ts';

/**
 * A network's scanned and final heights. The final heights are null near genesis, and absent in answers of older
 * releases.
 */
export type NetworkTip = {
  network: string;
  /** The height of the last scanned block. */
  height: number;
  final_height?: number | null;
  /** The same for transfers above the network's `finalized_above_amount`. */
  large_final_height?: number | null;
  /**
   * Whether new transfers are not noticed at the moment: the network is halted, or has not been read up to its head for
   * a minute longer than normal. A network that is missing in the answer is unreadable too. Absent in answers of older
   * releases.
   */
  unreadable?: boolean;
};

/** `clock`: the time of chain-watcher's database, RFC 3339 UTC. Absent in answers of older releases. */
export type TipsResponse = { tips: NetworkTip[]; clock?: string };

/**
 * The last scanned block of every enabled network, from which confirmations are counted. A network without a scanned
 * block is left out; a halted one keeps its height. payments reads it every second while a payment waits for
 * confirmations.
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
  { callers: ['payments'] },
);
