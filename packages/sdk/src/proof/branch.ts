import { bytesOf, hexOf } from './hex.ts';
import { keccak256 } from './keccak.ts';
import { decodeRlp, type Rlp } from './rlp.ts';

/**
 * Follows a branch of the receipts trie from its root to the receipt at this index.
 * No key of the trie begins another, and every receipt is longer than a hash. So receipts are in leaves alone, and every node is named by
 * its hash. Source: Ethereum Yellow Paper, appendix D.
 * @param nodes are the nodes on the way, from the root to the leaf.
 * @returns the receipt's bytes.
 * @throws RangeError when the nodes are not this branch.
 */
export function receiptInTrie(root: Uint8Array, index: number, nodes: readonly Uint8Array[]): Uint8Array {
  let expected: Rlp | undefined = root;
  let path = nibbles(keyOf(index));
  for (const [depth, node] of nodes.entries()) {
    if (!(expected instanceof Uint8Array) || hexOf(keccak256(node)) !== hexOf(expected))
      throw new RangeError(`node ${depth} is not the one that its parent names`);
    const items = decodeRlp(node);
    if (items.length === 17) {
      expected = items[Number.parseInt(path.slice(0, 1), 16)] as Rlp | undefined;
      path = path.slice(1);
      continue;
    }
    const [part, target] = items as Rlp[];
    if (!(part instanceof Uint8Array) || target === undefined) throw new RangeError(`node ${depth} is no node`);
    const { isLeaf, steps } = partOf(part);
    if (isLeaf ? path !== steps : !path.startsWith(steps)) throw new RangeError(`node ${depth} leads to another index`);
    if (!isLeaf) {
      path = path.slice(steps.length);
      expected = target;
      continue;
    }
    if (depth !== nodes.length - 1 || !(target instanceof Uint8Array))
      throw new RangeError('the branch goes on behind its leaf');
    return target;
  }
  throw new RangeError('the branch ends before its leaf');
}

/** The key of a receipt: its index as RLP. */
function keyOf(index: number): Uint8Array {
  const digits = index === 0 ? '' : index.toString(16);
  const bytes = bytesOf(`0x${digits.length % 2 === 0 ? digits : `0${digits}`}`);
  return index > 0 && index < 0x80 ? bytes : Uint8Array.from([0x80 + bytes.length, ...bytes]);
}

/** A path as hex digits. */
const nibbles = (bytes: Uint8Array): string => hexOf(bytes).slice(2);

/** The steps of a leaf or an extension: the first digit tells which it is, and whether the number of steps is odd. */
function partOf(part: Uint8Array): { isLeaf: boolean; steps: string } {
  const digits = nibbles(part);
  const flags = Number.parseInt(digits.slice(0, 1), 16);
  return { isLeaf: (flags & 2) !== 0, steps: digits.slice((flags & 1) !== 0 ? 1 : 2) };
}
