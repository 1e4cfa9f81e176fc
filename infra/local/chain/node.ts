import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mineInIntervals } from '@quittance/local-backends/chain.ts';
import { commandLine, isStopped } from '@quittance/local-backends/orphans.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { StackError } from '../stack/directory.ts';
import { readChain } from './services.ts';
import { expectThat } from './watch.ts';
import type { World } from './world.ts';

/** Freezes the chain's node with its open connections: it answers nothing and makes no block. */
export async function stopNode(world: World): Promise<void> {
  const { stack, say, claim } = world;
  const pid = await nodeOf(world);
  await claim('everything');
  if (await isStopped(pid))
    throw new StackError('The node is stopped already. `npm run chain -- resume-node` ends it.');
  process.kill(pid, 'SIGSTOP');
  say('Stopped the chain’s node.');
  say(
    'Nothing on the chain is seen until `npm run chain -- resume-node`: no payment becomes CHECKING, PAID or EXPIRED.',
  );
  say('The API keeps working: payments can be created and read. After resume-node everything recovers by itself.');
  await expectThat(world, 'node', async () => {
    const isRight = await isStopped(pid);
    return { seen: isRight ? 'stands still' : 'runs', isRight };
  });
  await expectThat(world, 'API', async () => {
    const headers = { 'X-API-Key': stack.merchant.api_key };
    const { status } = await fetch(`${stack.gateway_url}/api/v1/merchant/limits`, { headers });
    return { seen: `answers ${status}`, isRight: status === 200 };
  });
}

/** Undoes `stop-node`, and starts block production again if a killed command had paused it. */
export async function resumeNode(world: World): Promise<void> {
  const { stack, say, claim } = world;
  const pid = await nodeOf(world);
  await claim('everything');
  const wasStopped = await isStopped(pid);
  if (wasStopped) process.kill(pid, 'SIGCONT');
  await mineInIntervals(stack.chain.rpc_url);
  say(wasStopped ? 'The node runs again.' : 'The node was not stopped.');
  say('New blocks are made, and the watcher continues from its cursor.');
  const resumedAt = Number(await rpc<string>(stack.chain.rpc_url, 'eth_blockNumber'));
  await expectThat(world, 'watcher', async () => {
    const { cursor, halted_at: halted } = await readChain(world);
    return { seen: `has read block ${cursor}`, isRight: halted === null && (cursor ?? 0) > resumedAt };
  });
}

/** @throws StackError while `stop-node` is in effect. */
export async function requireAnsweringNode(world: World): Promise<void> {
  const pid = await ownNode(world);
  if (pid !== null && (await isStopped(pid))) {
    throw new StackError('The node is stopped, so nothing can be sent. `npm run chain -- resume-node` ends it.');
  }
}

async function nodeOf(world: World): Promise<number> {
  const pid = await ownNode(world);
  if (pid === null)
    throw new StackError('The node of this chain does not belong to the stack: CHAIN_RPC_URL names another one.');
  return pid;
}

/** The process that runs the stack's own chain. */
async function ownNode({ directory }: World): Promise<number | null> {
  const pid = Number.parseInt(await readFile(join(directory.chain, 'anvil.pid'), 'utf8').catch(() => ''), 10);
  return pid > 1 && (await commandLine(pid)).includes(directory.chain) ? pid : null;
}
