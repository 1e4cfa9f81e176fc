import { TRANSFER_TOPIC } from '@quittance/chain-reader/chain/transfers.ts';
import { addressOf, hashOf } from '@quittance/testkit/chain/samples.ts';
import { hexOf, type RawLog, type RawReceipt, type RecordedBlock } from './recorded-blocks.ts';

const APPROVAL_TOPIC = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const OTHER_TOKEN = addressOf(0x77);

type Event = { address: string; topics: string[]; data: string };

/** Made-up blocks with the shape of recorded ones: the token's events among others, and events that only look like them. */
export function sampleBlocks(token: string): RecordedBlock[] {
  const transfer = (from: number, to: number, units: bigint, address = token): Event => ({
    ...{
      address,
      topics: [TRANSFER_TOPIC, topicOf(from), topicOf(to)],
      data: `0x${units.toString(16).padStart(64, '0')}`,
    },
  });
  const approval: Event = { ...transfer(1, 2, 99n), topics: [APPROVAL_TOPIC, topicOf(1), topicOf(2)] };
  const swap = (at: number): Event[] => [
    transfer(at, at + 1, 7n, OTHER_TOKEN),
    transfer(at + 1, at + 2, 1_000_000n + BigInt(at)),
    { ...transfer(at, at + 2, 3n, OTHER_TOKEN), topics: [hashOf(0x5a), topicOf(at)], data: '0x' },
  ];
  // The first one in its block, so that no event of ours has position 0.
  const other = [transfer(1, 2, 5n, OTHER_TOKEN)];
  const contents: Event[][][] = [
    // A whole block: only coins, a swap, two transfers in one transaction, and a plain one.
    [other, [], swap(10), [transfer(20, 21, 500n), transfer(20, 22, 600n)], [transfer(30, 31, 123_456_789n)]],
    // Nothing that counts: no amount, an approval, a look-alike, four topics.
    [
      other,
      [transfer(1, 2, 0n)],
      [approval],
      [{ ...transfer(3, 4, 8n), topics: [...transfer(3, 4, 8n).topics, hashOf(9)] }],
    ],
    [other, [approval, transfer(40, 41, 42n)], swap(50)],
    [other, swap(60), [transfer(70, 71, 20_000_000_000n)]],
  ];
  return contents.map((transactions, at) => blockOf(1_000 + 10 * at, transactions));
}

function blockOf(number: number, transactions: readonly Event[][]): RecordedBlock {
  const hash = hashOf(0xb10c0000 + number);
  let logIndex = 0;
  const receipts = transactions.map((events, at): RawReceipt => {
    const transactionHash = hashOf(0x7a000000 + number * 100 + at);
    const place = { blockHash: hash, blockNumber: hexOf(number), transactionHash, transactionIndex: hexOf(at) };
    const logs = events.map((event): RawLog => ({ ...event, ...place, logIndex: hexOf(logIndex++), removed: false }));
    return { ...place, status: '0x1', logs };
  });
  const parentHash = hashOf(0xb10c0000 + number - 1);
  const header = { hash, stateRoot: hashOf(number), gasUsed: '0x5208' };
  return {
    number,
    hash,
    parentHash,
    header,
    transactions: receipts.map(({ transactionHash }) => ({ hash: transactionHash })),
    receipts,
  };
}

const topicOf = (wallet: number): string => `0x${'0'.repeat(24)}${addressOf(0xaa0000 + wallet).slice(2)}`;
