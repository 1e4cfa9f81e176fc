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
 * The header of a block as the chain hashes it.
 * @param appended fields behind those of the known forks.
 * @throws TypeError when the answer lacks a field of every header.
 */
export function headerBytes(answer: HeaderAnswer, appended: readonly Field[] = []): Buffer {
  const later = isText(answer['extDataHash']) ? fieldsOfAvalanche : fieldsOfForks;
  const present = [...firstFields, ...later.filter(([name]) => isText(answer[name])), ...appended];
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

/** Of a node's answer, but not of a header. Any other field may belong to a fork that is not known here. */
const fieldsOfNodes = new Set(['hash', 'size', 'totalDifficulty', 'l1BlockNumber', 'sendCount', 'sendRoot']);
/** More fields than a fork has ever added, and few enough to try every order. */
const MAX_UNKNOWN_FIELDS = 3;

/**
 * Finds the header that the block's own hash proves. Forks have only ever appended fields, so the fields that are not known here are tried
 * in every order, and a chain goes on being read after a fork. Whatever is tried, only the true header has the hash.
 * @returns null when the answer does not make up its own hash.
 */
export function provenHeader(answer: HeaderAnswer): Buffer | null {
  let known: Buffer;
  try {
    known = headerBytes(answer);
    if (keccak256(known) === answer['hash']) return known;
    for (const appended of ordersOf(unknownFields(answer))) {
      const bytes = headerBytes(answer, appended);
      if (keccak256(bytes) === answer['hash']) return bytes;
    }
  } catch (error) {
    // A field is missing, or is no hex.
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
  }
  return null;
}

function unknownFields(answer: HeaderAnswer): Field[] {
  const known = new Set([...firstFields, ...fieldsOfForks, ...fieldsOfAvalanche].map(([name]) => name));
  const unknown = Object.keys(answer).filter((name) => !known.has(name) && !fieldsOfNodes.has(name));
  const hex = unknown.filter((name) => /^0x[0-9a-f]*$/.test(String(answer[name])));
  return hex.length > MAX_UNKNOWN_FIELDS ? [] : hex.map((name) => [name, isQuantity(answer[name]) ? quantity : data]);
}

const isQuantity = (value: unknown): boolean => /^0x(0|[1-9a-f][0-9a-f]{0,15})$/.test(String(value));

/** Every choice of at least one of these fields, in every order. */
function ordersOf(fields: readonly Field[]): Field[][] {
  return fields.flatMap((field) => {
    const rest = ordersOf(fields.filter((other) => other !== field));
    return [[field], ...rest.map((others) => [field, ...others])];
  });
}

const isText = (value: unknown): value is string => typeof value === 'string';
