import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { freePort } from '@quittance/local-backends/ports.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { codeBlocks } from '../../support/guide.ts';
import { ownEnvironment } from '../../support/journey-stack.ts';
import type { Shared } from './shared.ts';

/** Commands that run until Ctrl-C. */
const staysOpen = /run listen|node shop\.mjs/;
/** The stack of these journeys runs already; tests/local-stack starts one with this command. */
const isDone = 'npm --prefix ../quittance start -- --detach';

export const quickStart = (shared: Shared): void =>
  describe('the quick start of the guide', () => {
    test('leads from an empty folder to a paid order, word for word', async () => {
      const begun = performance.now();
      const home = await mkdtemp(join(tmpdir(), 'quittance-quick-start-'));
      const terminal = openTerminal(join(home, 'shop'), shared.directory.root);
      try {
        await mkdir(join(home, 'shop'));
        await symlink(repositoryRoot, join(home, 'quittance'));
        // What depends on the machine: the system's address, and a free port.
        const [edge, port] = [shared.stack.file.edge_url, String(await freePort())];
        const here = (text: string): string => text.replace('http://127.0.0.1:8080', edge).replace('3000', port);

        for (const { language, title, code } of codeBlocks('quick-start.md')) {
          if (language === 'js') await writeFile(join(home, 'shop', title), here(code));
          const commands = language === 'sh' ? code.trim().split('\n') : [];
          for (const command of commands.filter((one) => one !== isDone)) {
            const typed = here(command).replace('<payment_url>', () => linkIn(terminal.output()));
            if (!staysOpen.test(command)) await terminal.run(typed);
            else {
              terminal.open(typed);
              const ready = command.includes('listen') ? 'Webhooks go to' : 'is to be paid here:';
              await eventually(() => expect(terminal.output()).toContain(ready));
            }
          }
        }
        expect(terminal.output()).toContain('status PAID');
        await eventually(() => expect(terminal.output()).toMatch(/^order-\d+ is paid: 4\.20 USDT$/m));
        // With the answer of the shop, as forwarded.
        await eventually(() => expect(terminal.output()).toMatch(/tea\.example: PAID pay_\w+ .*, answered 204$/m));
        const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
        process.stdout.write(`The quick start took ${seconds} s of commands, with a stack that was already running.\n`);
      } finally {
        await terminal.close();
        await rm(home, { recursive: true, force: true });
      }
    }, 480_000);
  });

const linkIn = (output: string): string => /is to be paid here: (\S+)/.exec(output)?.[1] ?? 'no link yet';

/** The variables that npm sets for its children, such as these tests, would not exist in a person's shell. */
const withoutNpm = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_(?!config_(?:registry|cache)$)/i.test(name)));

function interrupt(group: number): void {
  try {
    process.kill(-group, 'SIGINT');
  } catch {
    // It has already ended.
  }
}

/** A shell in a folder. Its commands find the stack by its directory, and have no network. */
function openTerminal(cwd: string, stackDirectory: string) {
  let output = '';
  const open = new Map<number, Promise<number | null>>();
  const start = (command: string): Promise<number | null> => {
    const env = { ...withoutNpm(ownEnvironment()), LOCAL_DIRECTORY: stackDirectory, npm_config_offline: 'true' };
    // In its own process group, because npm starts other processes.
    const child = spawn('sh', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (child.pid !== undefined) open.set(child.pid, ended);
    void ended.finally(() => open.delete(child.pid ?? 0)).catch(() => undefined);
    return ended;
  };
  return {
    output: () => output,
    open: (command: string): void => void start(command).catch(() => undefined),
    /** @throws Error with all output, when the command fails. */
    async run(command: string): Promise<void> {
      const code = await start(command);
      if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`);
    },
    /** Ctrl-C in everything that still runs. */
    async close(): Promise<void> {
      const left = [...open];
      for (const [pid] of left) interrupt(pid);
      await Promise.all(left.map(([, ended]) => ended.catch(() => null)));
    },
  };
}
