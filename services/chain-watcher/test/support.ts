import { expect } from '@jest/globals';
import { parseAddress } from '@quittance/contracts/address.ts';
import type { PaymentCreated, TransferObserved } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { RunningWatcher } from './watcher.ts';
import { untilWatched, type World } from './world.ts';

type Patience = { timeoutMs: number };

/** A wallet that a payment waits on and whose back-fill is complete. */
export async function watchedWallet(world: World, payment: Partial<PaymentCreated> = {}): Promise<string> {
  const wallet = newWallet();
  await world.publishPaymentCreated({ ...payment, recipient: wallet });
  await untilWatched(world, wallet);
  return wallet;
}

/** Height of the last block scanned; -1 before the first. */
export async function cursorOf({ pool }: World, network = 'local'): Promise<number> {
  const { rows } = await pool.query<{ number: bigint | null }>('select number from cursor where network = $1', [
    network,
  ]);
  return Number(rows[0]?.number ?? -1);
}

/** Waits until the whole chain is scanned. */
export async function untilCaughtUp(world: World, patience: Patience = { timeoutMs: 60_000 }): Promise<void> {
  const { number } = await world.chain.rpc<{ number: string }>('eth_getBlockByNumber', ['latest', false]);
  await eventually(async () => expect(await cursorOf(world)).toBe(Number(number)), patience);
}

/** Waits until the node got this many more requests. */
export async function untilAsked(node: MisbehavingNode, times: number): Promise<void> {
  const before = node.requests();
  await eventually(() => expect(node.requests()).toBeGreaterThanOrEqual(before + times));
}

export async function stateOfWatch({ pool }: World, wallet: string): Promise<string | undefined> {
  const address = Buffer.from(parseAddress(wallet)!.hex.slice(2), 'hex');
  const { rows } = await pool.query<{ state: string }>('select state from watch where address = $1', [address]);
  return rows[0]?.state;
}

export type WindowsAnswer = { scanned_through: string | null; transfers: TransferObserved[] };

/** Asks the question that payments asks before a payment expires. */
export async function askWindows(watcher: RunningWatcher, ...windows: object[]): Promise<WindowsAnswer> {
  const { body } = await watcher.call('POST', '/internal/v1/transfers/in-windows', { network: 'local', windows });
  return body as WindowsAnswer;
}

/** Checks that no message was published twice. */
export function expectNothingTwice({ received }: Pick<World, 'received'>): void {
  const keys = received.map(({ transaction_id: id, transaction_event_index: at, version }) => `${id} ${at} ${version}`);
  expect(new Set(keys).size).toBe(keys.length);
}

/** Height of the chain's newest block. */
export const headOf = async ({ chain }: World): Promise<number> => Number(await chain.rpc<string>('eth_blockNumber'));
