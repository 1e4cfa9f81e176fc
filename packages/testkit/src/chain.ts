import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChain } from '@quittance/local-backends/chain.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { ensureToken, payer } from '@quittance/local-backends/token/token.ts';
import { runDirectoryPrefix } from './run-directory.ts';

export type TestChain = {
  rpcUrl: string;
  chainId: number;
  /** Address of the test USDT. */
  token: string;
  decimals: number;
  /** Address of the account that `transfer` sends from. */
  payer: string;
  mint(to: string, units: bigint): Promise<string>;
  /** Sends test USDT from the payer. Returns the transaction's hash, 0x…, once its block is there. */
  transfer(to: string, units: bigint): Promise<string>;
  /** Several transfers in one transaction. */
  transferBatch(transfers: { to: string; units: bigint }[]): Promise<string>;
  setFee(basisPoints: number): Promise<string>;
  /** Freezes a wallet as Tether's contract does, or clears it. */
  setBlackListed(address: string, isBlackListed: boolean): Promise<string>;
  /** Adds this many empty blocks. */
  mine(blocks: number): Promise<void>;
  /** Replaces the newest `depth` blocks by as many empty ones. Their transactions are gone. */
  reorg(depth: number): Promise<void>;
  /** Any other call of the node. */
  rpc<T>(method: string, params?: unknown[]): Promise<T>;
  close(): Promise<void>;
};

/**
 * A separate chain for this test, with the test USDT on it. Every transaction immediately gets its own block, and no
 * other block is made, so that the test alone decides what the chain looks like. `blockTimeSeconds` adds blocks at
 * intervals instead.
 */
export async function testChain({
  decimals = 6,
  blockTimeSeconds = 'on-demand',
  slotsInAnEpoch = 1,
  keepsStates = true,
  clockBehindSeconds = 0,
}: {
  decimals?: number;
  blockTimeSeconds?: number | 'on-demand';
  /** Block `finalized` is twice this number behind the head. */
  slotsInAnEpoch?: number;
  /** false: blocks stay fast however many there are, but none can be reorganised away. */
  keepsStates?: boolean;
  /** How far the clock of the chain is behind this machine's. */
  clockBehindSeconds?: number;
} = {}): Promise<TestChain> {
  const directory = await mkdtemp(join(tmpdir(), `${runDirectoryPrefix}${process.pid}-chain-`));
  const port = await freePort();
  const chain = await startChain({
    directory,
    port,
    blockTimeSeconds,
    slotsInAnEpoch,
    keepsStates,
    clockBehindSeconds,
    logFile: join(directory, 'anvil.log'),
    persistent: false,
    temporaryDirectory: directory,
  });
  const token = await ensureToken(chain.rpcUrl, { decimals });
  const call = <T>(method: string, params: unknown[] = []) => rpc<T>(chain.rpcUrl, method, params);
  return {
    rpcUrl: chain.rpcUrl,
    chainId: chain.chainId,
    token: token.address,
    decimals: token.decimals,
    payer: payer.address,
    mint: token.mint,
    transfer: token.pay,
    transferBatch: token.payBatch,
    setFee: token.setFee,
    setBlackListed: token.setBlackListed,
    mine: (blocks) => call('anvil_mine', [`0x${blocks.toString(16)}`]),
    reorg: (depth) => call('anvil_reorg', [depth, []]),
    rpc: call,
    close: async () => {
      await chain.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
