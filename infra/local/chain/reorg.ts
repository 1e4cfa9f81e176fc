import { rpc } from '@quittance/local-backends/rpc.ts';
import { mineInIntervals, mineWithTransactions } from '@quittance/local-backends/chain.ts';
import type { PaymentStatus } from '@quittance/contracts/api/payment.ts';
import { payOnChain } from '../stack/pay.ts';
import { StackError } from '../stack/directory.ts';
import { requireAnsweringNode } from './node.ts';
import { claimPayment } from './payment.ts';
import { readChain } from './services.ts';
import { expectThat } from './watch.ts';
import type { World } from './world.ts';

type Touched = { payment_id: string; status: PaymentStatus; transaction_id: string };

/**
 * Replaces the newest block by an empty one, as if another miner had produced it. The old block's transfers are gone.
 * @param link of a payment that is paid in that block.
 */
export async function reorganise(world: World, link?: string): Promise<void> {
  const { say, claim } = world;
  await claim('everything');
  await requireAnsweringNode(world);
  const { height, touched } = await replaceNewest(world, link);
  say(`Replaced block ${height} by an empty one.`);
  say(
    'The watcher reads the new block, and money that was in the old one is gone: a payment that was CHECKING is PENDING.',
  );
  await expectThat(world, 'watcher', async () => {
    const { cursor, halted_at: halted } = await readChain(world);
    return { seen: `has read block ${cursor}`, isRight: halted === null && (cursor ?? 0) > height };
  });
  if (touched.length === 0) say('  The old block had no transfer to a payment.');
  for (const { payment_id: id } of touched) {
    await expectThat(world, id, async () => {
      const [row] = await world.query<Touched>('select status from payments.payment where payment_id = $1', [id]);
      return { seen: row?.status ?? 'gone', isRight: row?.status === 'PENDING' };
    });
  }
}

type Replaced = { height: number; touched: Touched[] };

async function replaceNewest(world: World, link: string | undefined): Promise<Replaced> {
  const { rpc_url: rpcUrl } = world.stack.chain;
  // No other block may come on top, because it would confirm the transfers of this one.
  await mineWithTransactions(rpcUrl);
  try {
    return await replaceOnItsOwn(world, link);
  } finally {
    await mineInIntervals(rpcUrl);
  }
}

async function replaceOnItsOwn(world: World, link: string | undefined): Promise<Replaced> {
  const { rpc_url: rpcUrl } = world.stack.chain;
  const expected = link === undefined ? null : await payAndSee(world, link);
  const height = Number(await rpc<string>(rpcUrl, 'eth_blockNumber'));
  const touched = await transfersFrom(world, height);
  if (expected !== null && !touched.some(({ payment_id: id }) => id === expected)) {
    throw new StackError(`A block followed that of ${expected}: another program sent a transaction. Try again.`);
  }
  await rpc(rpcUrl, 'anvil_reorg', [1, []]);
  return { height, touched };
}

/** Pays, and waits until the payment is seen. @returns its id. */
async function payAndSee(world: World, link: string): Promise<string> {
  const payment = await claimPayment(world, link);
  const { status, amount, merchant_wallet: wallet } = await payment.details();
  if (status !== 'PENDING') throw new StackError(`The payment is ${status}: choose one that is PENDING.`);
  const { transactionHash, blockNumber } = await payOnChain(world.stack.chain, wallet, amount);
  world.say(`Paid ${amount} USDT: transaction ${transactionHash} in block ${blockNumber}.`);
  await expectThat(world, 'status', async () => {
    const { status: seen } = await payment.details();
    return { seen, isRight: seen === 'CHECKING' };
  });
  return payment.payment_id;
}

/** Transfers seen in this block and later ones that are not confirmed yet. */
async function transfersFrom({ stack, query }: World, height: number): Promise<Touched[]> {
  return query<Touched>(
    `select payment_id, status, transaction_id from payments.transfer join payments.payment using (payment_id)
      where transfer.network = any($1) and block_number >= $2 and phase = 'seen' and status = 'CHECKING'`,
    [[stack.chain.network, stack.tron?.network], height],
  );
}
