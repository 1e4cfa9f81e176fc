import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLine, isAlive, writePidFile } from '@quittance/local-backends/orphans.ts';
import { StackError, type StackDirectory } from './directory.ts';

/** Part of the command line of a process that runs a stack. */
const mark = join('commands', 'start.ts');
const stopPatienceMs = 60_000;

/** Records that this process runs the stack. @throws StackError when another one does. */
export async function claimStack(directory: StackDirectory): Promise<void> {
  const pid = await runningStack(directory);
  if (pid !== null) {
    throw new StackError(
      `The local stack is already running here (pid ${pid}). \`npm stop\` ends it; PORT_BASE lets a second checkout run at the same time.`,
    );
  }
  await rm(directory.stackFile, { force: true });
  await writePidFile(pidFile(directory), process.pid);
}

/** Removes the stack file, which other programs look for, and the process id: nothing runs any more. */
export async function releaseStack(directory: StackDirectory): Promise<void> {
  await rm(directory.stackFile, { force: true });
  await rm(pidFile(directory), { force: true });
}

/** Process id of the running stack of this directory, or null. */
async function runningStack(directory: StackDirectory): Promise<number | null> {
  const pid = Number.parseInt(await readFile(pidFile(directory), 'utf8').catch(() => ''), 10);
  if (!(pid > 1) || pid === process.pid) return null;
  return (await commandLine(pid)).includes(mark) ? pid : null;
}

/** Asks the running stack to stop and waits for it. @returns false when none runs. */
export async function stopRunningStack(directory: StackDirectory): Promise<boolean> {
  const pid = await runningStack(directory);
  if (pid === null) return false;
  process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + stopPatienceMs;
  while (await isAlive(pid)) {
    if (Date.now() > deadline)
      throw new StackError(`The stack (pid ${pid}) did not stop within ${stopPatienceMs / 1_000} s.`);
    await delay(100);
  }
  return true;
}

function pidFile(directory: StackDirectory): string {
  return join(directory.root, 'stack.pid');
}
