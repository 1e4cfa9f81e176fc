/** Decoded RLP: bytes, or a list. */
export type Rlp = Uint8Array | Rlp[];

/**
 * Decodes one item of Ethereum's recursive length prefix. Callers check the hash of the bytes first, so that only what a chain wrote is
 * decoded. Source: Ethereum Yellow Paper, appendix B.
 * @throws RangeError when the bytes are not exactly one item.
 */
export function decodeRlp(bytes: Uint8Array): Rlp {
  const [item, end] = itemAt(bytes, 0);
  if (end !== bytes.length) throw new RangeError('bytes follow the RLP item');
  return item;
}

/** @returns the item and where the next one begins. */
function itemAt(bytes: Uint8Array, start: number): [Rlp, number] {
  const prefix = bytes[start];
  if (prefix === undefined) throw new RangeError('the RLP item ends early');
  if (prefix < 0x80) return [bytes.subarray(start, start + 1), start + 1];
  const isList = prefix >= 0xc0;
  const size = prefix - (isList ? 0xc0 : 0x80);
  const lengthBytes = Math.max(0, size - 55);
  const from = start + 1 + lengthBytes;
  const to = from + (lengthBytes === 0 ? size : Number(integerOf(bytes.subarray(start + 1, from))));
  if (to > bytes.length) throw new RangeError('the RLP item ends early');
  if (!isList) return [bytes.subarray(from, to), to];
  const items: Rlp[] = [];
  const within = bytes.subarray(0, to);
  for (let at = from; at < to;) {
    const [item, next] = itemAt(within, at);
    items.push(item);
    at = next;
  }
  return [items, to];
}

/** The unsigned integer of these bytes, the highest first; 0 without bytes. */
export const integerOf = (bytes: Uint8Array): bigint => bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
