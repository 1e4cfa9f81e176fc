/** What is encoded as RLP: bytes, or a list. */
type Item = Uint8Array | readonly Item[];

/** Source: Ethereum Yellow Paper, appendix B. ethers has the same over hex text, which takes several times as long for a whole block. */
export function encodeRlp(item: Item): Buffer {
  if (!(item instanceof Uint8Array)) {
    const items = item.map(encodeRlp);
    const size = items.reduce((sum, { length }) => sum + length, 0);
    return Buffer.concat([prefix(0xc0, size), ...items]);
  }
  const [first = 0] = item;
  const isItself = item.length === 1 && first < 0x80;
  return isItself ? Buffer.from(item) : Buffer.concat([prefix(0x80, item.length), item]);
}

/** Hex text with 0x as bytes. */
export const data = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');

/** A number, or hex text of one, as bytes without leading zeros. */
export function quantity(value: string | number): Buffer {
  const digits = BigInt(value).toString(16);
  return digits === '0' ? Buffer.alloc(0) : Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

function prefix(offset: number, size: number): Buffer {
  if (size <= 55) return Buffer.from([offset + size]);
  const length = quantity(size);
  return Buffer.concat([Buffer.from([offset + 55 + length.length]), length]);
}
