import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { freePort } from '@quittance/local-backends/ports.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { codeBlocks } from '../../support/guide.ts';
import type { Shared } from './shared.ts';
import { openTerminal } from './terminal.ts';

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
