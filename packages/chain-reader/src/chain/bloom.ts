import { keccak256 } from 'ethers/crypto';
import type { Log } from '../rpc/answers.ts';

// A block's header has a Bloom filter over the addresses and topics of all its events. A clear bit proves that an event is not in the
// block. A set bit exposes a node that answers with an empty list for a block that has events.
// Source: Ethereum Yellow Paper, section 4.4.3.

const BLOOM_BYTES = 256;

/** One bit of the filter, as a position in the header's hex text. */
type Bit = { offset: number; mask: number };

/** Returns a function that tells whether a block may hold an event with this address and this topic (lowercase hex). */
export function bloomTest(address: string, topic: string): (bloom: string) => boolean {
  const bits = [...bitsOf(address), ...bitsOf(topic)];
  return (bloom) => bits.every(({ offset, mask }) => (byteAt(bloom, offset) & mask) !== 0);
}

/**
 * Whether these events explain every bit of a header's filter. If so, no event of the block is missing, except events that share all their
 * bits with others. Polygon also returns events of its bridge that the header leaves out, so additional bits are allowed.
 */
export function coversBloom(logs: readonly Pick<Log, 'address' | 'topics'>[], bloom: string): boolean {
  const items = new Set(logs.flatMap((log) => [log.address, ...log.topics]));
  const covered = new Uint8Array(BLOOM_BYTES);
  for (const item of items) {
    for (const { offset, mask } of bitsOf(item)) covered[offset] = (covered[offset] ?? 0) | mask;
  }
  return covered.every((byte, offset) => (byteAt(bloom, offset) & ~byte) === 0);
}

/** Whether a filter is empty. On Tron it always is. */
export const isBlank = (bloom: string): boolean => /^0x0*$/.test(bloom);

/** The three bits of one address or topic. */
function bitsOf(item: string): Bit[] {
  const digest = Buffer.from(keccak256(item).slice(2), 'hex');
  return [0, 2, 4].map((at) => {
    const bit = digest.readUInt16BE(at) & 2047;
    return { offset: BLOOM_BYTES - 1 - (bit >> 3), mask: 1 << (bit & 7) };
  });
}

function byteAt(bloom: string, offset: number): number {
  return Number.parseInt(bloom.slice(2 + 2 * offset, 4 + 2 * offset), 16);
}
