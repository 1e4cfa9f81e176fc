import { rpc } from '@quittance/local-stack/backends/rpc.ts';

const blockSeconds = 1;

/** What a test does to the local chain beside paying: anvil's own methods. */
export class LocalChain {
  readonly #rpcUrl: string;

  constructor(rpcUrl: string) {
    this.#rpcUrl = rpcUrl;
  }

  /** Keeps blocks from coming by themselves meanwhile: a transaction sent now gets a block of its own, and nothing follows it. */
  async withMiningStopped<T>(run: () => Promise<T>): Promise<T> {
    await this.#call('evm_setIntervalMining', [0]);
    await this.#call('evm_setAutomine', [true]);
    try {
      return await run();
    } finally {
      await this.#call('evm_setAutomine', [false]);
      await this.#call('evm_setIntervalMining', [blockSeconds]);
    }
  }

  /** Replaces the newest block by an empty one. */
  async dropLastBlock(): Promise<void> {
    await this.#call('anvil_reorg', [1, []]);
  }

  async #call(method: string, params: unknown[]): Promise<void> {
    await rpc(this.#rpcUrl, method, params);
  }
}
