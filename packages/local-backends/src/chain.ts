import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keepState, restoreState } from './chain-state.ts';
import { startChild } from './child.ts';
import { endOrphan, writePidFile } from './orphans.ts';
import { requireFreePort } from './ports.ts';
import { rpc } from './rpc.ts';
import type { Backend } from './child.ts';

export type Chain = Backend & { rpcUrl: string; chainId: number };

export type ChainOptions = {
  /** Keeps the chain's state between starts. */
  directory: string;
  port: number;
  logFile: string;
  /**
   * Seconds between blocks, with or without transactions; 'on-demand': only when requested or for a transaction.
   * Default 1.
   */
  blockTimeSeconds?: number | 'on-demand';
  /** Block `finalized` is two epochs of this many blocks behind the head. Default 1, so two blocks. */
  slotsInAnEpoch?: number;
  /** false: the chain starts empty and nothing is kept. Default true. */
  persistent?: boolean;
  /**
   * false: no states of earlier blocks are kept, so that blocks stay fast however many there are; nothing can be
   * reorganised.
   */
  keepsStates?: boolean;
  /** How far its clock is behind this machine's from the start. Default 0. */
  clockBehindSeconds?: number;
  /** Removed when this process dies without stopping the chain. */
  temporaryDirectory?: string;
};

const chainId = 31_337;
const usualBlockTimeSeconds = 1;

/**
 * A private chain: anvil from its npm package, on 127.0.0.1, with ten funded accounts whose keys are public. After a
 * stop all blocks come back, after a kill -9 all but the newest (see `keepState`).
 * @throws Error naming a port in use, an unsupported platform, or anvil's own error.
 */
export async function startChain(options: ChainOptions): Promise<Chain> {
  const { directory, port, logFile } = options;
  const persistent = options.persistent ?? true;
  const pidFile = join(directory, 'anvil.pid');
  await mkdir(directory, { recursive: true });
  await endOrphan(pidFile, directory);
  await requireFreePort(port, 'the local chain');

  const restored = persistent ? await restoreState(directory) : null;
  const child = await startChild({
    name: 'anvil',
    command: anvilBinary(),
    args: anvilArguments(options, restored),
    logFile,
    cwd: directory,
    ...(options.temporaryDirectory ? { temporaryDirectory: options.temporaryDirectory } : {}),
  });
  await writePidFile(pidFile, child.pid);
  const rpcUrl = `http://127.0.0.1:${port}`;
  const refusal = await Promise.race([child.exited, untilReady(rpcUrl)]);
  if (refusal !== null) {
    await child.stop();
    throw new Error(
      `${refusal} before it was ready on ${directory}:\n${child.lastWords()}\n\`npm run reset\` forgets all local data.`,
    );
  }

  const keeper = persistent ? keepState(rpcUrl, directory) : null;
  void child.exited.then(() => keeper?.end());
  return {
    rpcUrl,
    chainId,
    pid: child.pid,
    exited: child.exited,
    stop: async () => {
      // It may be stopped by SIGSTOP; then it would neither answer nor handle a signal.
      if (child.running()) process.kill(child.pid, 'SIGCONT');
      if (child.running()) await keeper?.saveAndEnd();
      await child.stop();
    },
    kill: child.kill,
  };
}

/** Makes blocks at intervals, as from the start. */
export async function mineInIntervals(rpcUrl: string): Promise<void> {
  await rpc(rpcUrl, 'evm_setAutomine', [false]);
  await rpc(rpcUrl, 'evm_setIntervalMining', [usualBlockTimeSeconds]);
}

/** Makes a block immediately for each transaction, and no other blocks. */
export async function mineWithTransactions(rpcUrl: string): Promise<void> {
  await rpc(rpcUrl, 'evm_setIntervalMining', [0]);
  await rpc(rpcUrl, 'evm_setAutomine', [true]);
}

function anvilArguments(options: ChainOptions, restored: string | null): string[] {
  const { blockTimeSeconds = usualBlockTimeSeconds, slotsInAnEpoch = 1, clockBehindSeconds = 0 } = options;
  const args = [
    ...['--host', '127.0.0.1', '--port', String(options.port), '--chain-id', String(chainId), '--no-cors', '--quiet'],
    ...['--slots-in-an-epoch', String(slotsInAnEpoch)],
    // Later hard forks keep a history of block hashes in the state, which makes every block slower than the one before.
    ...['--hardfork', 'cancun'],
    ...['--cache-path', join(options.directory, 'cache')],
    // Old states are used only for reorganisations. Without a limit they fill the disk; their default place is the
    // user's home.
    ...(options.keepsStates === false ? ['--prune-history'] : ['--max-persisted-states', '64']),
  ];
  if (blockTimeSeconds !== 'on-demand') args.push('--block-time', String(blockTimeSeconds));
  if (clockBehindSeconds !== 0) args.push('--timestamp', String(Math.floor(Date.now() / 1000) - clockBehindSeconds));
  if (options.persistent ?? true) args.push('--dump-state', join(options.directory, 'state-at-exit.json'));
  if (restored) args.push('--load-state', restored);
  return args;
}

/** The package's own command starts this binary as a child of a Node process. We need the process id of the binary. */
function anvilBinary(): string {
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  const name = `@foundry-rs/anvil-${process.platform}-${architecture}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
    return createRequire(wrapper).resolve(`${name}/bin/anvil`);
  } catch {
    throw new Error(
      `There is no anvil for ${process.platform} on ${process.arch}. Name a chain of your own in CHAIN_RPC_URL.`,
    );
  }
}

async function untilReady(rpcUrl: string): Promise<null | string> {
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) {
    const answer = await rpc<string>(rpcUrl, 'eth_chainId').catch(() => null);
    if (answer !== null)
      return Number(answer) === chainId
        ? null
        : `Another chain, ${Number(answer)}, answered in place of anvil, which was stopped`;
    await delay(25);
  }
  return 'anvil did not answer within 30 seconds and was stopped';
}
