import type { TestChain } from '@quittance/testkit/chain.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { TRANSFER_TOPIC } from '@quittance/chain-reader/chain/transfers.ts';

/** An event that a contract may log. Hex; at most four topics of 32 bytes. */
export type Event = { topics: string[]; data: string };

/** The first three topics of a transfer. */
export const transferTopicsOf = (from: string, to: string): string[] => [TRANSFER_TOPIC, topicOf(from), topicOf(to)];

export const wordOf = (units: bigint): string => `0x${units.toString(16).padStart(64, '0')}`;

/**
 * Has the contract at this address log these events in one transaction, whatever it is: its code is exchanged for a moment.
 * So the chain itself holds them, header, receipt and all.
 * @returns the transaction's hash.
 */
export async function emitAt(chain: TestChain, address: string, events: readonly Event[]): Promise<string> {
  const code = await chain.rpc<string>('eth_getCode', [address, 'latest']);
  await chain.rpc('anvil_setCode', [address, `0x${events.map(logging).join('')}00`]);
  try {
    const transaction = { from: chain.payer, to: address, gas: '0xf4240', data: '0x' };
    const hash = await chain.rpc<string>('eth_sendTransaction', [transaction]);
    await eventually(async () => {
      const receipt = await chain.rpc<{ status: string; logs: unknown[] } | null>('eth_getTransactionReceipt', [hash]);
      if (receipt?.status !== '0x1' || receipt.logs.length !== events.length)
        throw new Error('the events are not logged');
    });
    return hash;
  } finally {
    await chain.rpc('anvil_setCode', [address, code]);
  }
}

/** Machine code that logs one event of up to 32 bytes of data. */
function logging({ topics, data }: Event): string {
  const bytes = (data.length - 2) / 2;
  const store = `7f${data.slice(2).padEnd(64, '0')}600052`;
  const push = topics.toReversed().map((topic) => `7f${topic.slice(2)}`);
  const length = bytes.toString(16).padStart(2, '0');
  return `${store}${push.join('')}60${length}6000a${topics.length}`;
}

const topicOf = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`;
