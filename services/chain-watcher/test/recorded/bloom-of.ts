import { keccak256 } from 'ethers';

/** A header's Bloom filter over these events. Source: Ethereum Yellow Paper, section 4.4.3. */
export function bloomOf(logs: readonly { address: string; topics: readonly string[] }[]): string {
  const bloom = Buffer.alloc(256);
  for (const item of new Set(logs.flatMap(({ address, topics }) => [address, ...topics]))) {
    const digest = Buffer.from(keccak256(item.toLowerCase()).slice(2), 'hex');
    for (const at of [0, 2, 4]) {
      const bit = digest.readUInt16BE(at) & 2047;
      bloom[255 - (bit >> 3)]! |= 1 << (bit & 7);
    }
  }
  return `0x${bloom.toString('hex')}`;
}
