import { keccak256 } from 'ethers/crypto';
import { data, encodeRlp, quantity } from './rlp.ts';

/** A block as eth_getBlockByNumber answers it. */
export type HeaderAnswer = Readonly<Record<string, unknown>>;

/** How a field of the answer is encoded in the header. */
type Field = readonly [name: string, encode: (hex: string) => Uint8Array];

/** Every header begins with these. Source: Ethereum Yellow Paper, section 4.4. */
const firstFields: readonly Field[] = [
  ['parentHash', data],
  ['sha3Uncles', data],
  ['miner', data],
  ['stateRoot', data],
  ['transactionsRoot', data],
  ['receiptsRoot', data],
  ['logsBloom', data],
  ['difficulty', quantity],
  ['number', quantity],
  ['gasLimit', quantity],
  ['gasUsed', quantity],
  ['timestamp', quantity],
  ['extraData', data],
  ['mixHash', data],
  ['nonce', data],
];

/**
 * Forks added these, each behind those before it: London (EIP-1559), Shanghai (EIP-4895), Cancun (EIP-4844, EIP-4788), Prague (EIP-7685).
 * The OP Stack, Arbitrum, BNB, Polygon, Celo and Plasma add none of their own.
 */
const fieldsOfForks: readonly Field[] = [
  ['baseFeePerGas', quantity],
  ['withdrawalsRoot', data],
  ['blobGasUsed', quantity],
  ['excessBlobGas', quantity],
  ['parentBeaconBlockRoot', data],
  ['requestsHash', data],
];

/** Avalanche's C-Chain has its own after the first ones. Source: avalanchego, coreth's customtypes.HeaderSerializable (Granite, Helicon). */
const fieldsOfAvalanche: readonly Field[] = [
  ['extDataHash', data],
  ['baseFeePerGas', quantity],
  ['extDataGasUsed', quantity],
  ['blockGasCost', quantity],
  ['blobGasUsed', quantity],
  ['excessBlobGas', quantity],
  ['parentBeaconBlockRoot', data],
  ['timestampMilliseconds', quantity],
  ['minDelayExcess', quantity],
  ['targetExponent', quantity],
  ['minPriceExponent', quantity],
  ['settledHeight', quantity],
  ['settledGasUnix', quantity],
  ['settledGasNumerator', quantity],
  ['settledExcess', quantity],
];

/**
 * The header of a block as the chain hashes it. A field that a later fork adds and that is not known here makes another hash, so callers
 * compare {@link headerHash} with the block's.
 * @throws TypeError when the answer lacks a field of every header.
 */
export function headerBytes(answer: HeaderAnswer): Buffer {
  const later = isText(answer['extDataHash']) ? fieldsOfAvalanche : fieldsOfForks;
  const present = [...firstFields, ...later.filter(([name]) => isText(answer[name]))];
  return encodeRlp(
    present.map(([name, encode]) => {
      const value = answer[name];
      if (!isText(value)) throw new TypeError(`the block has no ${name}`);
      return encode(value);
    }),
  );
}

/** @returns the block's hash that follows from its header, lowercase with 0x. */
export const headerHash = (answer: HeaderAnswer): string => keccak256(headerBytes(answer));

const isText = (value: unknown): value is string => typeof value === 'string';
