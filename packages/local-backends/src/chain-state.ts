import { existsSync } from 'node:fs';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { rpc } from './rpc.ts';

/** The part of anvil's state file that is read here. */
type State = { block?: { number?: string } | null; blocks: Block[] };
type Block = { header: { number: string; timestamp: string }; transactions: unknown[] };

/**
 * Empty blocks older than this (an hour at one per second) are dropped at the next start, so that the file stays small.
 */
const keptBlocks = 3600;

const saved = (directory: string) => join(directory, 'state.json.gz');

/**
 * Saves the chain's state after each block, either completely or not at all. (anvil's own --state-interval overwrites
 * the old file, so a kill -9 during a write leaves no usable state.) A save takes 20 ms for a thousand blocks. To keep
 * it below a twentieth of the time, a long chain is saved less often: every second block at 3,000, every fourth second
 * at 10,000.
 */
export function keepState(rpcUrl: string, directory: string): { saveAndEnd(): Promise<void>; end(): void } {
  const ending = new AbortController();
  const saving = (async () => {
    let savedBlock = '';
    while (!ending.signal.aborted) {
      const startedAt = performance.now();
      const block = await rpc<string>(rpcUrl, 'eth_blockNumber').catch(() => savedBlock);
      if (block !== savedBlock && (await save(rpcUrl, directory).then(yes, no))) savedBlock = block;
      const tookMs = performance.now() - startedAt;
      await delay(Math.max(100, 19 * tookMs), null, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    end: () => ending.abort(),
    saveAndEnd: async () => {
      ending.abort();
      await saving;
      await save(rpcUrl, directory).catch(() => undefined);
    },
  };
}

/**
 * Writes the newest state of an earlier run, without its oldest empty blocks, to where anvil can load it.
 * @returns the file, or null when the chain starts empty.
 * @throws Error when there is a state that can't be read.
 */
export async function restoreState(directory: string): Promise<string | null> {
  const atExit = join(directory, 'state-at-exit.json');
  await rm(`${saved(directory)}.unfinished`, { force: true });
  const candidates = [
    await readState(saved(directory), promisify(gunzip)),
    await readState(atExit, async (bytes) => bytes),
  ];
  const newest = candidates.filter((state) => state !== null).sort((a, b) => headOf(b) - headOf(a))[0];
  if (!newest) {
    if (!existsSync(saved(directory))) return null;
    throw new Error(`${saved(directory)} is damaged. \`npm run reset\` forgets all local data and starts afresh.`);
  }
  const oldest = headOf(newest) - keptBlocks;
  const genesis = firstGenesis(newest.blocks);
  newest.blocks = newest.blocks.filter((block) => {
    const number = Number(block.header.number);
    return block === genesis || (number > 0 && (number > oldest || block.transactions.length > 0));
  });
  const file = join(directory, 'state.json');
  await writeFile(file, JSON.stringify(newest));
  await rm(atExit, { force: true });
  return file;
}

/** Every start of anvil creates a genesis block and keeps it next to the loaded one. The chain grew from the first. */
function firstGenesis(blocks: Block[]): Block | undefined {
  const all = blocks.filter(({ header }) => Number(header.number) === 0);
  return all.sort((a, b) => Number(a.header.timestamp) - Number(b.header.timestamp))[0];
}

async function save(rpcUrl: string, directory: string): Promise<void> {
  const dump = await rpc<string>(rpcUrl, 'anvil_dumpState');
  const unfinished = `${saved(directory)}.unfinished`;
  const file = await open(unfinished, 'w');
  try {
    await file.writeFile(Buffer.from(dump.slice(2), 'hex'));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, saved(directory));
}

/** A file that anvil was writing when it was killed can't be parsed, and is ignored. */
async function readState(file: string, unpack: (bytes: Buffer) => Promise<Buffer>): Promise<State | null> {
  try {
    return JSON.parse((await unpack(await readFile(file))).toString()) as State;
  } catch {
    return null;
  }
}

function headOf(state: State): number {
  return Number(state.block?.number ?? 0);
}

const yes = () => true;
const no = () => false;
