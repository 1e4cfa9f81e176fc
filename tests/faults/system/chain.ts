import { setTimeout as delay } from 'node:timers/promises';
import { startChain } from '@quittance/local-backends/chain.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { ensureToken, payer } from '@quittance/local-backends/token/token.ts';
import type { StackChain } from '@quittance/local-stack/stack/stack-file.ts';
import { createSemaphore } from '@quittance/runtime/concurrency/semaphore.ts';
import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import {
  createChainHistory,
  type ChainHistory,
} from '../../../services/chain-watcher/test/random-run/chain-history.ts';
import { readBlocks } from '../../../services/chain-watcher/test/random-run/node-rpc.ts';

export const CONFIRMATIONS = 4;
/** Fewer blocks than confirm a transfer, so that PAID stays true. */
const DEEPEST_REORG = CONFIRMATIONS - 1;
/** For anvil, a block is final when this many blocks follow it. */
export const FINAL_DEPTH = 16;
const BLOCK_EVERY_MS = 700;

/** A chain whose blocks are made here, one at a time, so that every block that ever existed is known. */
export type MinedChain = {
  rpcUrl: string;
  /** The token's contract. */
  token: string;
  history: ChainHistory;
  /** When a transaction was first in a block, by the machine's clock: milliseconds since 1970, by hash. */
  firstMinedAt: ReadonlyMap<string, number>;
  /** Its entry in the stack's file. */
  describe(): Promise<StackChain>;
  /**
   * Replaces up to three of the newest blocks: their transactions are put into other blocks in the same order, and the last ones may be
   * dropped. @returns a description.
   */
  reorganise(chance: Chance): Promise<string>;
  /** From now on blocks have a time that is this many seconds ahead of the machine's, or behind for a negative number. */
  bend(seconds: number): void;
};

export async function openChain({
  directory,
  logFile,
  onEnd,
}: {
  directory: string;
  logFile: string;
  onEnd: (close: () => Promise<void>) => void;
}): Promise<MinedChain> {
  const node = await startChain({
    ...{ directory, port: await freePort(), logFile, persistent: false },
    ...{ blockTimeSeconds: 'on-demand' as const, slotsInAnEpoch: FINAL_DEPTH / 2 },
  });
  onEnd(() => node.kill());
  const { rpcUrl } = node;
  const call = <T>(method: string, ...params: unknown[]): Promise<T> => rpc<T>(rpcUrl, method, params);
  const token = await ensureToken(rpcUrl);
  await call('evm_setAutomine', false);
  const history = createChainHistory();
  const firstMinedAt = new Map<string, number>();
  let head = -1;
  let aheadSeconds = 0;
  const oneAtATime = createSemaphore(1);

  /** Records everything above `ancestor`. */
  async function note(ancestor: number): Promise<void> {
    head = Number(await call<string>('eth_blockNumber'));
    const blocks = await readBlocks(rpcUrl, ancestor + 1, head);
    history.record(ancestor, blocks);
    for (const { transactionHash: hash } of blocks.flatMap(({ receipts }) => receipts))
      firstMinedAt.set(hash, firstMinedAt.get(hash) ?? Date.now());
  }
  async function mine(blocks: number): Promise<void> {
    // No block is older than the one before: a clock that is set back stops until the time has come.
    const before = head < 0 ? 0 : Number(history.head().timestamp);
    await call('evm_setNextBlockTimestamp', Math.max(before, Math.floor(Date.now() / 1000) + aheadSeconds));
    await call('anvil_mine', blocks);
    await note(head);
  }
  await mine(2 * FINAL_DEPTH);

  const ending = new AbortController();
  const mining = (async () => {
    while (!ending.signal.aborted) {
      await oneAtATime(() => mine(1));
      await delay(BLOCK_EVERY_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  onEnd(async () => {
    ending.abort();
    await mining;
  });

  return {
    ...{ rpcUrl, history, firstMinedAt, token: token.address },
    bend(seconds) {
      aheadSeconds = seconds;
    },
    describe: async () => ({
      ...{ network: 'local', rpc_url: rpcUrl, chain_id: Number(await call<string>('eth_chainId')) },
      ...{ token: token.address, decimals: token.decimals },
      ...{ payer_address: payer.address, payer_private_key: payer.privateKey },
    }),
    reorganise: (chance) =>
      oneAtATime(async () => {
        const depth = chance.between(1, DEEPEST_REORG);
        const ancestor = head - depth;
        const removed = history.view(0).slice(ancestor + 1);
        const hashes = removed.flatMap((hash) =>
          history.find(hash)!.receipts.map(({ transactionHash }) => transactionHash),
        );
        const kept = hashes.slice(0, chance.happens(0.4) ? chance.below(hashes.length + 1) : hashes.length);
        const raw = await Promise.all(kept.map((hash) => call<string>('eth_getRawTransactionByHash', hash)));
        // One account sends them all, so their order must stay.
        const places = raw.map(() => chance.below(depth)).sort((a, b) => a - b);
        const placed = raw.map((text, position) => [text, places[position]]);
        await call('anvil_reorg', depth, placed);
        await note(ancestor);
        // A reorg sets anvil's clock back to the ancestor's time. The next block may have the head's time, but no earlier one.
        await call('evm_setTime', Number(history.head().timestamp));
        return `${depth} blocks replaced, ${hashes.length - kept.length} of ${hashes.length} transactions gone`;
      }),
  };
}
