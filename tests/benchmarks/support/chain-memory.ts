import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { orders } from './orders.ts';

export type MemoryOrder = { databaseUrl: string };

/** Bytes of heap and of buffers outside it, beyond what the process had before. */
export type WalletMemory = {
  wallets: number;
  seconds: number;
  /** Once garbage is collected. */
  settledBytes: number;
  /** The most that was seen while loading, garbage included. */
  peakBytes: number;
};

/** What a process takes that loads all watched wallets as chain-watcher does; a new process each time. */
export async function measureWalletMemory(databaseUrl: string): Promise<WalletMemory> {
  const child = fork(fileURLToPath(new URL('chain-memory-process.ts', import.meta.url)), { execArgv: ['--expose-gc'] });
  const { ask, close } = orders<MemoryOrder, WalletMemory>(child, 'the process that loads wallets');
  try {
    return await ask({ databaseUrl });
  } finally {
    await close();
  }
}
