import { StackError } from './directory.ts';

/** The steps of a start. Each is reported with its duration, and what they started is stopped in reverse order. */
export class Steps {
  readonly #say: (line: string) => void;
  readonly #stopping: AbortSignal | undefined;
  #undo: (() => Promise<void>)[] = [];

  constructor(say: (line: string) => void, stopping?: AbortSignal) {
    this.#say = say;
    this.#stopping = stopping;
  }

  async take<T>(what: string, run: () => Promise<T>): Promise<T> {
    if (this.#stopping?.aborted === true) throw new StackError('Stopped while starting.');
    const started = performance.now();
    const result = await run();
    this.#say(`  ✓ ${what.padEnd(34)} ${((performance.now() - started) / 1_000).toFixed(1)} s`);
    return result;
  }

  undoLater(undo: () => Promise<void>): void {
    this.#undo.push(undo);
  }

  /** Stops everything. A failure does not prevent the other stops. */
  async undo(): Promise<void> {
    const undos = this.#undo.reverse();
    this.#undo = [];
    for (const undo of undos) {
      await undo().catch((error: unknown) =>
        this.#say(`  stopping: ${error instanceof Error ? error.message : String(error)}`),
      );
    }
  }
}
