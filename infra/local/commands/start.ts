import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import { command, isExpected } from '../stack/command.ts';
import { demoAmount, runDemo } from '../stack/demo.ts';
import { createPayment, type Receiving } from '../stack/demo-merchant.ts';
import { stackDirectory, StackError, type StackDirectory } from '../stack/directory.ts';
import { maxReplicas, portBase } from '../stack/ports.ts';
import { requireEndpoint } from '../receiver/forward.ts';
import { confirmingBlocks } from '../stack/network.ts';
import { claimStack, releaseStack } from '../stack/running.ts';
import { startStack, type Stack } from '../stack/stack.ts';
import { demoSummary, stackSummary } from '../stack/summary.ts';
import { ensurePool } from '../stack/wallet-pool.ts';

type Flags = {
  detach?: boolean;
  quietDemo?: boolean;
  demo: boolean;
  replicas: number;
  single: boolean;
  network?: 'tron';
  forward?: string;
};

await command(async () => {
  const flags = readFlags();
  const directory = stackDirectory();
  mkdirSync(directory.logs, { recursive: true, mode: 0o700 });
  if (flags.detach === true) return startDetached(directory);
  await runHere(directory, flags).catch((error: unknown) => {
    if (isExpected(error)) tellParent({ failed: error.message });
    throw error;
  });
});

function readFlags(): Flags {
  const flags = new Command('npm start --')
    .description('Starts the whole system on this machine and takes one payment all the way.')
    .option('--detach', 'return when everything is ready; `npm stop` ends it')
    .option('--quiet-demo', 'run the demo payment without printing its steps')
    .option('--no-demo', 'start without the demo payment')
    .addOption(
      new Option('--forward <url>', 'forward webhooks to your own endpoint, which decides the answer').argParser(
        endpoint,
      ),
    )
    .addOption(new Option('--network <name>', 'a test network in addition to the local chain').choices(['tron']))
    .option('--single', 'all services in one process, for a small machine', false)
    .option('--replicas <count>', 'number of processes of each service', replicaCount, 1)
    .allowExcessArguments(false)
    .parse()
    .opts<Flags>();
  if (flags.single && flags.replicas > 1)
    throw new StackError('--single runs one process and cannot be combined with --replicas.');
  return flags;
}

function endpoint(text: string): string {
  try {
    return requireEndpoint(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function replicaCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > maxReplicas) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${maxReplicas}.`);
  }
  return count;
}

async function runHere(directory: StackDirectory, flags: Flags): Promise<void> {
  await claimStack(directory);
  const stopping = stopSignal();
  try {
    const { replicas, single, network, forward } = flags;
    const options = { directory, portBase: portBase(process.env), replicas, single, environment: process.env };
    const stack = await startStack({ ...options, withTron: network === 'tron', say, stopping });
    try {
      const local = await placeOnLocalChain(stack);
      if (flags.demo) await showDemo(stack, flags, local);
      if (forward !== undefined) {
        await stack.backends.receiver.forwardTo(forward);
        say(`Webhooks now go to ${forward}.`);
      }
      sayInConfidence(await summaryWithLink(stack, local));
      if (!process.connected) say('Ctrl-C stops it; data is kept. `npm run reset` deletes it.');
      tellParent({ ready: true });
      const reason = await Promise.race([stack.failed, aborted(stopping)]);
      if (reason !== null) throw new StackError(`${reason}. The stack has stopped; its data is kept.`);
    } finally {
      say('Stopping …');
      await stack.stop();
    }
    say('Stopped. Data is kept; `npm start` continues with it, `npm run reset` deletes it.');
  } finally {
    await releaseStack(directory);
  }
}

/** The demo merchant's pool, so that each payment has an address of its own. A networks file of one's own may have no local chain. */
async function placeOnLocalChain({ file }: Stack): Promise<Receiving> {
  if (process.env['NETWORKS_FILE'] !== undefined) return { merchant_wallet: file.merchant.wallet };
  const name = 'demo';
  await ensurePool(file.gateway_url, file.merchant, name);
  return { wallet_pool: name };
}

async function showDemo({ file }: Stack, flags: Flags, local: Receiving): Promise<void> {
  const quiet = flags.quietDemo === true;
  const tron = flags.network === 'tron' ? file.tron : undefined;
  const network = {
    receiving: tron === undefined ? local : { merchant_wallet: tron.wallet },
    confirmingBlocks: tron === undefined ? confirmingBlocks.local : confirmingBlocks.tron,
  };
  say(quiet ? 'Running the demo payment …' : '\nOne payment, all the way:');
  const result = await runDemo(file, network, quiet ? () => undefined : (line) => say(`  ${line}`));
  say(demoSummary(result));
}

/** An open payment on each network, so that the user can try to pay with one command. */
async function summaryWithLink({ file }: Stack, local: Receiving): Promise<string> {
  const open = async (receiving: Receiving): Promise<string> => {
    const payment = {
      amount: demoAmount(receiving, { from: 1, to: 9 }),
      description: 'A payment to try',
      ...receiving,
    };
    return (await createPayment(file.edge_url, file.merchant, payment)).payment_url;
  };
  const onTron = file.tron === undefined ? null : await open({ merchant_wallet: file.tron.wallet });
  return stackSummary(file, local, { local: await open(local), onTron });
}

/** Ctrl-C and SIGTERM stop the stack in order; a second Ctrl-C ends it immediately. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return controller.signal;
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

type ToParent = { line?: string; ready?: boolean; failed?: string };

function tellParent(message: ToParent): void {
  if (process.connected) process.send?.(message);
}

function say(line: string): void {
  console.log(line);
  tellParent({ line });
}

/** For texts that hold keys: prints to the terminal only, never to the log of a stack in the background. */
function sayInConfidence(text: string): void {
  if (process.connected) tellParent({ line: text });
  else console.log(text);
}

/** Runs this command in the background, shows its output, and returns when the stack is ready. */
async function startDetached(directory: StackDirectory): Promise<void> {
  const log = openSync(join(directory.logs, 'stack.log'), 'a', 0o600);
  const words = process.argv.slice(2).filter((word) => word !== '--detach');
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...words], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  process.once('SIGINT', () => child.kill('SIGTERM'));
  process.once('SIGTERM', () => child.kill('SIGTERM'));
  let reason = `the stack did not start; see ${join(directory.logs, 'stack.log')}`;
  await new Promise<void>((resolve, reject) => {
    child.on('message', ({ line, ready, failed }: ToParent) => {
      if (line !== undefined) console.log(line);
      if (failed !== undefined) reason = failed;
      if (ready === true) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new StackError(reason)));
  });
  child.disconnect();
  child.unref();
  console.log('It runs in the background. `npm stop` stops it; data is kept. `npm run reset` deletes it.');
}
