import type { ChainNetwork } from './networks.ts';
import type { Log } from '../rpc/answers.ts';
import type { LogFilter } from '../rpc/reads.ts';
import { TRANSFER_TOPIC, transferTopics } from './transfers.ts';

type TokenNetwork = Pick<ChainNetwork, 'family' | 'token'>;

/**
 * What to ask eth_getLogs for.
 * @param wallets only transfers to these (20-byte hex); null for every transfer of the token.
 * @returns null for everything. Tron's nodes look addresses and topics up in an index that may be incomplete, and then
 *   leave events out without a word; only what is asked for without a filter is exact.
 */
export function eventsFilter({ family, token }: TokenNetwork, wallets: readonly string[] | null): LogFilter | null {
  return family === 'tron' ? null : { address: token, topics: transferTopics(wallets) };
}

/** The transfer events of the token among these, also those that move nothing. */
export function tokenTransfers({ token }: TokenNetwork, logs: readonly Log[]): Log[] {
  return logs.filter((log) => log.address === token && log.topics[0] === TRANSFER_TOPIC);
}
