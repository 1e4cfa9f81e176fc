import type { Log } from '../rpc/answers.ts';

/** keccak256 of "Deprecate(address)". */
export const DEPRECATE_TOPIC = '0xcc358699805e9a8b7f77b522628c7cb9abd07d9efb86b6fb616af1609036a99e';

/**
 * The token's owner has put another contract in its place, as Tether's older contracts on Ethereum and Tron allow. From then on the old one
 * passes calls on, and transfers may show their events elsewhere.
 */
export type Deprecation = {
  /** 64 lowercase hex characters, no 0x. */
  transactionId: string;
  blockNumber: number;
  /** Address of the new contract, 20 bytes as 0x and lowercase hex; null where the event holds none. */
  successor: string | null;
};

/** @returns the first one among these events of the token; nearly always null. */
export function findDeprecation(token: string, entries: readonly { logs: readonly Log[] }[]): Deprecation | null {
  for (const { logs } of entries) {
    const log = logs.find(({ address, topics }) => address === token && topics[0] === DEPRECATE_TOPIC);
    if (log !== undefined) {
      const { transactionHash, blockNumber } = log;
      return { transactionId: transactionHash.slice(2), blockNumber, successor: successorIn(log) };
    }
  }
  return null;
}

/** The deployed contracts do not index the address; a copy might. */
function successorIn({ topics: [, indexed], data }: Log): string | null {
  const [, address] = /^0x0{24}([0-9a-f]{40})$/.exec(indexed ?? data) ?? [];
  return address === undefined ? null : `0x${address}`;
}
