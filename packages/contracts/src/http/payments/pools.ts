import { defineCall, json } from '../../call.ts';
import { fields } from '../../messages.ts';

/** A merchant has at most this many pools. */
export const POOLS_MAX = 20;
/** And at most this many addresses in lists. */
export const POOL_ADDRESSES_MAX = 10_000;
/** As many addresses as one call may have. */
export const ADDRESSES_AT_ONCE = 500;

/** Bounds and default of the rest of an address, in seconds. */
export const restSeconds = { min: 3_600, max: 604_800, default: 86_400 };

/** A named set of addresses, each of which is for one payment at a time. */
export type WalletPool = {
  name: string;
  network: string;
  kind: 'list' | 'xpub';
  rest_seconds: number;
  /** The number of addresses of a list, and how many of them can be given now; null for a key. */
  size: number | null;
  free: number | null;
  /** The lowest index of a key that was not given yet; null for a list. */
  next_index: number | null;
  /** The first three, canonical. */
  first_addresses: string[];
  /** Addresses of the request that belong to other merchants and were left out; empty when a pool is read. */
  refused: string[];
  created_at: string;
};

/**
 * Addresses or a key. Without `rest_seconds` an existing pool keeps its own. The gateway and payments both check what
 * the values mean.
 */
export type PoolRequest = { network: string; rest_seconds?: number } & (
  | { addresses: string[]; append: boolean }
  | { xpub: string; expect_first_address: string }
);

const name = { type: 'string', pattern: '^[a-z0-9-]{1,40}$' } as const;
const addresses = { type: 'array', minItems: 1, maxItems: ADDRESSES_AT_ONCE, items: fields.address } as const;

const text = { type: 'string', maxLength: 1000 } as const;
const key = { xpub: text, expect_first_address: text };
const restSchema = { type: 'integer', minimum: restSeconds.min, maximum: restSeconds.max } as const;

const requestOf = (source: Record<string, object>) => ({
  type: 'object',
  required: ['network', ...Object.keys(source)],
  properties: { network: fields.network, rest_seconds: restSchema, ...source },
});

/** Whether a text can be the name of a pool. */
export const isPoolName = (text: string): boolean => new RegExp(name.pattern).test(text);

/**
 * Makes or changes a pool. 409 `wallet_of_another_merchant` for the key of another merchant; 422 where the request or a
 * limit does not allow it. Repeating it changes nothing more.
 */
export const PutWalletPool = defineCall(
  'payments',
  'PUT /merchants/:merchant_id/wallet-pools/:name',
  json<WalletPool>(),
  {
    callers: ['api-gateway'],
    body: json<PoolRequest>({ oneOf: [requestOf({ addresses, append: { type: 'boolean' } }), requestOf(key)] }),
  },
);

/** A merchant's pools, by name. */
export const ListWalletPools = defineCall(
  'payments',
  'GET /merchants/:merchant_id/wallet-pools',
  json<{ pools: WalletPool[] }>(),
  { callers: ['api-gateway'], access: 'viewer' },
);

/** 404 for an unknown name. */
export const ReadWalletPool = defineCall(
  'payments',
  'GET /merchants/:merchant_id/wallet-pools/:name',
  json<WalletPool>(),
  { callers: ['api-gateway'], access: 'viewer' },
);

/** An address, and the networks on which its rest ended. */
export type ReleasedRest = { address: string; networks: string[] };

/** Ends the rest of an address. 404 if it does not rest on any network after a payment of this merchant. */
export const ReleaseWalletRest = defineCall(
  'payments',
  'DELETE /merchants/:merchant_id/wallet-rests/:address',
  json<ReleasedRest>(),
  // A repeated one would be 404.
  { callers: ['api-gateway'], idempotent: false },
);

/** A key that moved on, and from which index to which. */
export type MovedKey = { merchant_id: string; network: string; from_index: number; to_index: number };

/** How far keys move on: more payments than any pool gets in the minutes that a restored database may have lost. */
export const MOVED_INDEXES = 1_000;

/**
 * After a backup was restored: every key moves on by a thousand indexes, because the newest ones may have been given
 * without a trace. Repeating it moves them on again.
 */
export const FinishRestore = defineCall('payments', 'POST /restores/finished', json<{ moved: MovedKey[] }>(), {
  authored: true,
  access: 'admin',
});
