import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ensureToken } from '../src/token/token.ts';
import { startChain } from '../src/chain.ts';
import { isAlive, isStopped } from '../src/orphans.ts';
import { freePort } from '../src/ports.ts';
import { rpc } from '../src/rpc.ts';
import { temporaryDirectory } from './support.ts';
import type { ChainOptions } from '../src/chain.ts';

const recipient = '0x00000000000000000000000000000000000000ab';
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let options: ChainOptions;
beforeAll(async () => {
  directory = await temporaryDirectory();
  options = {
    directory: join(directory.path, 'chain'),
    port: await freePort(),
    logFile: join(directory.path, 'anvil.log'),
    blockTimeSeconds: 'on-demand',
  };
});
afterAll(() => directory.remove());

type Block = { number: string; hash: string };
const latest = (url: string) => rpc<Block>(url, 'eth_getBlockByNumber', ['latest', false]);
const blockOf = (url: string, number: string) => rpc<Block | null>(url, 'eth_getBlockByNumber', [number, false]);

test('the chain continues from its last block after a stop, and from its last saved one after a kill -9', async () => {
  const first = await startChain(options);
  const token = await ensureToken(first.rpcUrl);
  await token.pay(recipient, 5n);
  const stoppedAt = await latest(first.rpcUrl);
  await first.stop();
  expect(await isAlive(first.pid)).toBe(false);

  const second = await startChain(options);
  expect(await latest(second.rpcUrl)).toEqual(stoppedAt);
  const sameToken = await ensureToken(second.rpcUrl);
  expect(await sameToken.balanceOf(recipient)).toBe(5n);
  await sameToken.pay(recipient, 2n);
  const paidAt = await latest(second.rpcUrl);
  await untilSaved(Number(paidAt.number), options.directory);
  await second.kill();

  const third = await startChain(options);
  expect(await blockOf(third.rpcUrl, paidAt.number)).toEqual(paidAt);
  expect(await (await ensureToken(third.rpcUrl)).balanceOf(recipient)).toBe(7n);
  await third.stop();
});

test('a frozen chain is stopped like any other, and nothing is lost', async () => {
  const still = { ...options, directory: join(directory.path, 'still') };
  const first = await startChain(still);
  await rpc(first.rpcUrl, 'anvil_mine', ['0x5']);
  const head = await latest(first.rpcUrl);
  process.kill(first.pid, 'SIGSTOP');
  // Bounded by the test's own time limit.
  while (!(await isStopped(first.pid))) await delay(20);
  await first.stop();
  const second = await startChain(still);
  expect(await latest(second.rpcUrl)).toEqual(head);
  await second.stop();
});

test('a start drops old empty blocks, but never blocks with transactions', async () => {
  const long = { ...options, directory: join(directory.path, 'long') };
  const first = await startChain(long);
  const token = await ensureToken(first.rpcUrl);
  const hash = await token.pay(recipient, 1n);
  const emptyBlock = Number((await latest(first.rpcUrl)).number) + 1;
  await rpc(first.rpcUrl, 'anvil_mine', ['0x1000']);
  const head = await latest(first.rpcUrl);
  await first.stop();

  const second = await startChain(long);
  expect(await latest(second.rpcUrl)).toEqual(head);
  expect(await blockOf(second.rpcUrl, `0x${emptyBlock.toString(16)}`)).toBeNull();
  expect(await rpc(second.rpcUrl, 'eth_getTransactionReceipt', [hash])).not.toBeNull();
  await rpc(second.rpcUrl, 'evm_mine');
  expect(Number((await latest(second.rpcUrl)).number)).toBe(Number(head.number) + 1);
  await second.stop();
});

test('a damaged state is one error that says how to fix it', async () => {
  const damaged = { ...options, directory: join(directory.path, 'damaged') };
  await mkdir(damaged.directory);
  await writeFile(join(damaged.directory, 'state.json.gz'), 'nonsense');
  await expect(startChain(damaged)).rejects.toThrow('npm run reset');
});

/** The keeper saves soon after each block. Bounded by the test's own time limit. */
async function untilSaved(height: number, chainDirectory: string): Promise<void> {
  const savedHeight = async () => {
    const state = gunzipSync(await readFile(join(chainDirectory, 'state.json.gz'))).toString();
    return Number((JSON.parse(state) as { block: { number: string } }).block.number);
  };
  while ((await savedHeight()) < height) await delay(20);
}
