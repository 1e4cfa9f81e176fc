import { keccak256 } from 'ethers/crypto';
import { data, encodeRlp, quantity } from './rlp.ts';

/** The receipts trie of a block. Source: Ethereum Yellow Paper, appendix D. */
export type ReceiptsTrie = {
  /** Lowercase with 0x. */
  root: string;
  /** The nodes from the root to the leaf of the receipt at this index. */
  branch: (index: number) => Buffer[];
};

type Entry = { path: string; receipt: Buffer };
/** A node as bytes, and how to go on from it, by the digit that follows the steps which it takes itself. */
type Node = { bytes: Buffer; hash: Buffer; steps: string; children: ReadonlyMap<string, Node> };

/**
 * Builds the trie of all receipts of a block, in the order of their transactions.
 * No key begins another and each receipt is longer than a hash, so receipts are in leaves alone and every node is named by its hash.
 */
export function receiptsTrie(receipts: readonly Buffer[]): ReceiptsTrie {
  const [first, ...others] = receipts.map((receipt, index) => ({ path: pathOf(index), receipt }));
  if (first === undefined) return { root: keccak256(encodeRlp(Buffer.alloc(0))), branch: () => [] };
  const root = nodeOf([first, ...others]);
  return { root: `0x${root.hash.toString('hex')}`, branch: (index) => branchTo(root, pathOf(index)) };
}

function nodeOf(entries: readonly [Entry, ...Entry[]]): Node {
  const [first, ...others] = entries;
  if (others.length === 0) return node(encodeRlp([part(first.path, true), first.receipt]), first.path);
  const shared = sharedSteps(first.path, others);
  const children = new Map<string, Node>();
  for (const [digit, group] of Map.groupBy(entries, ({ path }) => path.charAt(shared.length))) {
    const rest = group.map(({ path, receipt }) => ({ path: path.slice(shared.length + 1), receipt }));
    children.set(digit, nodeOf(rest as [Entry, ...Entry[]]));
  }
  const places = Array.from('0123456789abcdef', (digit) => children.get(digit)?.hash ?? Buffer.alloc(0));
  const fork = node(encodeRlp([...places, Buffer.alloc(0)]), '', children);
  return shared === '' ? fork : node(encodeRlp([part(shared, false), fork.hash]), shared, new Map([['', fork]]));
}

const node = (bytes: Buffer, steps: string, children: Node['children'] = new Map()): Node => ({
  ...{ bytes, steps, children },
  hash: data(keccak256(bytes)),
});

function branchTo(node: Node, path: string): Buffer[] {
  const rest = path.slice(node.steps.length);
  const extended = node.children.get('');
  if (extended !== undefined) return [node.bytes, ...branchTo(extended, rest)];
  const child = node.children.get(rest.charAt(0));
  return child === undefined ? [node.bytes] : [node.bytes, ...branchTo(child, rest.slice(1))];
}

const pathOf = (index: number): string => encodeRlp(quantity(index)).toString('hex');

/** The steps of a leaf or an extension, with the flags in front that make their number even. */
function part(steps: string, isLeaf: boolean): Buffer {
  const flags = isLeaf ? 2 : 0;
  return Buffer.from(steps.length % 2 === 1 ? `${flags + 1}${steps}` : `${flags}0${steps}`, 'hex');
}

function sharedSteps(first: string, others: readonly Entry[]): string {
  let shared = first;
  for (const { path } of others) while (!path.startsWith(shared)) shared = shared.slice(0, -1);
  return shared;
}
