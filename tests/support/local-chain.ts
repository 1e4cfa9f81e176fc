const blockSeconds = 1;

/** What a test does to the local chain beside paying: anvil's own methods. */
export class LocalChain {
  readonly #rpcUrl: string;

  constructor(rpcUrl: string) {
    this.#rpcUrl = rpcUrl;
  }

  /** Keeps blocks from coming by themselves meanwhile: a transaction sent now gets a block of its own, and nothing follows it. */
  async withMiningStopped<T>(run: () => Promise<T>): Promise<T> {
    await this.call('evm_setIntervalMining', [0]);
    await this.call('evm_setAutomine', [true]);
    try {
      return await run();
    } finally {
      await this.call('evm_setAutomine', [false]);
      await this.call('evm_setIntervalMining', [blockSeconds]);
    }
  }

  /** Replaces the newest block by an empty one. */
  async dropLastBlock(): Promise<void> {
    await this.call('anvil_reorg', [1, []]);
  }

  async call<T>(method: string, params: unknown[]): Promise<T> {
    const answer = await fetch(this.#rpcUrl, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = (await answer.json()) as { result: T; error?: { message: string } };
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }
}
