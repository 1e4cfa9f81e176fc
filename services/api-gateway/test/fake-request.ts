import type { Network } from '@quittance/contracts/networks.ts';
import { HttpError, type ValidationItem } from '@quittance/http/errors.ts';
import type { RouteRequest } from '@quittance/http/route.ts';

/** A request as a route sees it, for rules that need no server. Header names are given in lower case. */
export function fakeRequest({
  headers = {},
  body = '',
  query = '',
}: {
  headers?: Record<string, string>;
  body?: string | Buffer;
  query?: string;
}): RouteRequest {
  const bytes = Buffer.from(body);
  return {
    method: 'POST',
    path: '/',
    params: {},
    query: new URLSearchParams(query),
    headers,
    rawHeaders: Object.entries(headers).flat(),
    requestId: 'test',
    readBody: (maxBytes) =>
      Promise.resolve(
        bytes.length > maxBytes ? { bytes: Buffer.alloc(0), tooLarge: true } : { bytes, tooLarge: false },
      ),
  };
}

/** A creation's request with valid headers. */
export const creationRequest = (body: unknown, headers: Record<string, string> = {}): RouteRequest =>
  fakeRequest({
    headers: { 'content-type': 'application/json', 'idempotency-key': 'order-1', ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });

/** The validation items of the 422 that `run` ends with. */
export async function refusedFields(run: () => unknown): Promise<ValidationItem[]> {
  const error = await refusal(run);
  if (error.status !== 422) throw new Error(`refused with ${error.status} instead of 422`);
  return error.detail as ValidationItem[];
}

/** The HttpError that `run` ends with. */
export async function refusal(run: () => unknown): Promise<HttpError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

const network = {
  chain_id: 1,
  rpc_urls: ['http://127.0.0.1:1'],
  decimals: 6,
  confirmations: 2,
  finality: 'confirmations',
  poll_interval_ms: 1000,
  explorer_transaction_url: null,
} as const satisfies Partial<Network>;

export const USDT_ON_EVM = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
export const USDT_ON_TRON = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

export const evmNetwork: Network = {
  ...network,
  id: 'local',
  family: 'evm',
  usdt_contract: USDT_ON_EVM,
  default_evm: true,
};
export const otherEvmNetwork: Network = {
  ...network,
  id: 'other',
  family: 'evm',
  usdt_contract: `0x${'11'.repeat(20)}`,
};
const tronNetwork: Network = { ...network, id: 'tron', family: 'tron', usdt_contract: USDT_ON_TRON };
export const networks: readonly Network[] = [evmNetwork, otherEvmNetwork, tronNetwork];

/** A wallet in the spelling that EIP-55 asks for, and in lower case. */
export const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
export const WALLET_LOWER = WALLET.toLowerCase();
