import { createHash } from 'node:crypto';
import type { TestChain } from '@quittance/testkit/chain.ts';
import { chanceOf } from './chance.ts';
import type { ChainHistory } from './chain-history.ts';
import { askNode, readBlocks } from './node-rpc.ts';
import type { ChainStep, PlannedTransaction } from './plan.ts';
import { createSenders, encode, type Senders, type Signed } from './senders.ts';

export type ChainMaker = {
  carryOut(step: ChainStep): Promise<void>;
  /** Adds this many empty blocks. */
  mine(count: number): Promise<void>;
  counts: {
    blocks: number;
    transactions: number;
    reorgsByDepth: Map<number, number>;
    nested: number;
    moved: number;
    replaced: number;
  };
};

/** anvil's first account, which owns the token. */
const OWNER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

/** The wallet with this number, in lowercase hex. */
export const walletOf = (seed: number, wallet: number): string =>
  `0x${createHash('sha256').update(`${seed} wallet ${wallet}`).digest('hex').slice(0, 40)}`;

/** Makes the blocks of a plan, and records each of them in the chronicle. */
export async function createChainMaker(
  chain: TestChain,
  chronicle: ChainHistory,
  options: { seed: number; senders: number },
): Promise<ChainMaker> {
  const { seed } = options;
  const lookalike = await deployLookalike(chain);
  const tokens = [chain.token, lookalike];
  const senders = await createSenders(chain, { seed, count: options.senders, tokens, owner: OWNER });
  const signed = new Map<string, Signed>();
  const counts: ChainMaker['counts'] = {
    ...{ blocks: 0, transactions: 0, nested: 0, moved: 0, replaced: 0 },
    reorgsByDepth: new Map(),
  };
  await chain.rpc('evm_setAutomine', [false]);
  let head = -1;
  await note(-1);

  /** Blocks above this height are new. */
  async function note(ancestor: number): Promise<void> {
    head = Number(await askNode<string>(chain.rpcUrl, 'eth_blockNumber'));
    chronicle.record(ancestor, await readBlocks(chain.rpcUrl, ancestor + 1, head));
  }

  async function send(planned: PlannedTransaction, nonces: number[]): Promise<void> {
    counts.transactions += 1;
    if (planned.kind === 'fee') {
      const data = encode('setFee', planned.basisPoints);
      await chain.rpc('eth_sendTransaction', [{ from: OWNER, to: chain.token, data, gas: '0x30d40' }]);
      return;
    }
    const { sender } = planned;
    const { to, data } = callOf(planned, { token: chain.token, lookalike, wallet: (number) => walletOf(seed, number) });
    const transaction = await senders.sign(sender, nonces[sender]!++, to, data);
    signed.set(transaction.hash, transaction);
    await chain.rpc('eth_sendRawTransaction', [transaction.raw]);
  }

  async function makeBlocks(blocks: PlannedTransaction[][]): Promise<void> {
    const nonces = await senders.nonces();
    for (const transactions of blocks) {
      for (const planned of transactions) await send(planned, nonces);
      await chain.mine(1);
    }
    counts.blocks += blocks.length;
    await note(head);
  }

  async function reorganise({ depth, choice }: { depth: number; choice: number }): Promise<void> {
    const ancestor = head - depth;
    const removed = chronicle
      .view(0)
      .slice(ancestor + 1)
      .map((hash) =>
        chronicle.find(hash)!.receipts.flatMap(({ transactionHash }) => signed.get(transactionHash) ?? []),
      );
    const { placed, moved, replaced } = await replant(removed, chanceOf(choice), senders);
    for (const { transaction } of placed) signed.set(transaction.hash, transaction);
    await chain.rpc('anvil_reorg', [depth, placed.map(({ transaction, position }) => [transaction.raw, position])]);
    // A reorg sets anvil's clock back to the ancestor's time.
    await chain.rpc('evm_setTime', [Math.floor(Date.now() / 1000)]);
    counts.reorgsByDepth.set(depth, (counts.reorgsByDepth.get(depth) ?? 0) + 1);
    counts.moved += moved;
    counts.replaced += replaced;
    counts.blocks += depth;
    await note(ancestor);
  }

  return {
    counts,
    async mine(count) {
      await chain.mine(count);
      counts.blocks += count;
      await note(head);
    },
    async carryOut(step) {
      if (step.kind === 'blocks') return makeBlocks(step.blocks);
      await reorganise(step);
      if (step.then === null) return;
      counts.nested += 1;
      await reorganise(step.then);
    },
  };
}

function callOf(
  planned: Exclude<PlannedTransaction, { kind: 'fee' }>,
  { token, lookalike, wallet }: { token: string; lookalike: string; wallet: (number: number) => string },
): { to: string; data: string } {
  switch (planned.kind) {
    case 'batch': {
      const { transfers } = planned;
      const units = transfers.map((transfer) => transfer.units);
      return {
        to: token,
        data: encode(
          'batchTransfer',
          transfers.map((transfer) => wallet(transfer.to)),
          units,
        ),
      };
    }
    case 'refused':
      // More than any account has.
      return { to: token, data: encode('transfer', wallet(planned.to), 10n ** 30n) };
    case 'transfer': {
      const contract = planned.token === 'usdt' ? token : lookalike;
      return { to: contract, data: encode('transfer', wallet(planned.to), planned.units) };
    }
  }
}

const SELECTOR_OF_TRANSFER = encode('transfer', OWNER, 0).slice(0, 10);

/**
 * Decides for each transaction of the removed blocks whether it is dropped, mined again in one of the new blocks, or replaced by a
 * transfer of another amount. A sender's transactions keep their order, and none follows a dropped one.
 */
async function replant(removed: Signed[][], chance: ReturnType<typeof chanceOf>, senders: Senders) {
  const placed: { transaction: Signed; position: number }[] = [];
  const dropped = new Set<number>();
  const earliest = new Map<number, number>();
  let moved = 0;
  let replaced = 0;
  for (const transaction of removed.flat().sort((a, b) => a.sender - b.sender || a.nonce - b.nonce)) {
    const { sender, nonce, to, data } = transaction;
    const fate = chance.weighted([
      [4, 'drop'],
      [4, 'move'],
      [3, 'replace'],
    ] as const);
    if (fate === 'drop' || dropped.has(sender)) {
      dropped.add(sender);
      continue;
    }
    const position = chance.between(earliest.get(sender) ?? 0, removed.length - 1);
    earliest.set(sender, position);
    const isReplaced = fate === 'replace' && data.startsWith(SELECTOR_OF_TRANSFER);
    const other = `${data.slice(0, -64)}${chance.between(1, 100_000_000).toString(16).padStart(64, '0')}`;
    placed.push({ position, transaction: isReplaced ? await senders.sign(sender, nonce, to, other) : transaction });
    if (isReplaced) replaced += 1;
    else moved += 1;
  }
  return { placed, moved, replaced };
}

const LOOKALIKE = '0x00000000000000000000000000000000000a11ce';

/** A second contract with the same code: its events look like the token's. */
async function deployLookalike(chain: TestChain): Promise<string> {
  await chain.rpc('anvil_setCode', [LOOKALIKE, await chain.rpc<string>('eth_getCode', [chain.token, 'latest'])]);
  return LOOKALIKE;
}
