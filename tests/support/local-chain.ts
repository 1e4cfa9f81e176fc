import { mineInIntervals, mineWithTransactions } from '@quittance/local-backends/chain.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';

/** What a test does to the local chain in addition to paying: anvil's own methods. */
export class LocalChain {
  readonly #rpcUrl: string;

  constructor(rpcUrl: string) {
    this.#rpcUrl = rpcUrl;
  }

  /** Stops automatic blocks during `run`: a transaction sent now gets its own block, and no block follows it. */
  async withMiningStopped<T>(run: () => Promise<T>): Promise<T> {
    await mineWithTransactions(this.#rpcUrl);
    try {
      return await run();
    } finally {
      await mineInIntervals(this.#rpcUrl);
    }
  }

  /** Replaces the newest block by an empty one. */
  async dropLastBlock(): Promise<void> {
    await this.#call('anvil_reorg', [1, []]);
  }

  /** Adds `count` empty blocks at once. */
  async mine(blocks: number): Promise<void> {
    await this.#call('anvil_mine', [blocks]);
  }

  /** Replaces the newest `depth` blocks by the same number of empty ones. */
  async reorganise(depth: number): Promise<void> {
    await this.#call('anvil_reorg', [depth, []]);
  }

  /** Moves the transaction of the newest block to the next block, as if another miner had been first. */
  async delayLastTransaction(hash: string): Promise<void> {
    const raw = await this.#call<string>('eth_getRawTransactionByHash', [hash]);
    await this.dropLastBlock();
    // At no moment does the transaction have a second block on top of it.
    await this.#call('eth_sendRawTransaction', [raw]);
  }

  /** Replaces the newest block, with the transaction that it has, by an empty one. @returns what sends the transaction again. */
  async dropLastTransaction(hash: string): Promise<() => Promise<void>> {
    const raw = await this.#call<string>('eth_getRawTransactionByHash', [hash]);
    await this.dropLastBlock();
    return async () => void (await this.#call('eth_sendRawTransaction', [raw]));
  }

  #call<T>(method: string, params: unknown[]): Promise<T> {
    return rpc<T>(this.#rpcUrl, method, params);
  }
}
