import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  findGo,
  findPhp,
  whyNoGo,
  whyNoPhp,
  whyNoPython,
  type Interpreter,
} from '@quittance/local-backends/languages.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { codeBlocks } from '../../support/guide.ts';
import type { Shared } from './shared.ts';
import { openTerminal } from './terminal.ts';

const toolsDirectory = join(repositoryRoot, '.local', 'tools');
const isDone = 'npm --prefix ../quittance start -- --detach\n';

const readers = [
  { name: 'curl', missing: null, find: null },
  { name: 'python', missing: whyNoPython(), find: null },
  { name: 'php', missing: whyNoPhp(), find: findPhp },
  { name: 'go', missing: whyNoGo(), find: findGo },
];

/** The page for other languages, as somebody with each of them follows it. */
export const anyLanguage = (shared: Shared): void =>
  describe.each(readers)('the page for other languages, read for $name', ({ name, missing, find }) => {
    (missing === null ? test : test.skip)(
      'leads from an empty folder to a paid order, word for word',
      async () => {
        const home = await mkdtemp(join(tmpdir(), `quittance-test-${process.pid}-${name}-`));
        const terminal = openTerminal(join(home, 'shop'), shared.directory.root);
        try {
          await mkdir(join(home, 'shop'));
          await symlink(repositoryRoot, join(home, 'quittance'));
          // What depends on the machine: the system's address, a free port, and where the language is.
          const [edge, port] = [shared.stack.file.edge_url, String(await freePort())];
          const here = (text: string): string => text.replace('http://127.0.0.1:8080', edge).replace('3000', port);
          const known = find === null ? [] : [asFunction(name, await find(toolsDirectory))];

          const blocks = codeBlocks('any-language.md').filter(({ title }) =>
            ['', name, ...(name === 'curl' ? [] : ['forward'])].includes(title),
          );
          for (const [index, { title, code }] of blocks.entries()) {
            const typed = here(code.replace(isDone, '')).replace('<payment_url>', () => linkIn(terminal.output()));
            // A terminal remembers what it was told; each of these commands has a shell of its own.
            const script = `set -e\n${[...known, typed].join('\n')}`;
            const isShop = name !== 'curl' && title === name && blocks[index + 1]?.title === 'forward';
            if (isShop || title === 'forward') terminal.open(script);
            else await terminal.run(script);
            if (title === 'forward') await eventually(() => expect(terminal.output()).toContain('Webhooks go to'));
            known.push(...typed.split('\n').filter((line) => /^(export |\w+\(\) )/.test(line)));
          }
          expect(terminal.output()).toContain('status PAID');
          const isPaid =
            name === 'curl'
              ? /"order_id":"1007".*"status":"PAID"|"status":"PAID".*"order_id":"1007"/
              : /paid pay_[0-9a-f]{32} 4\.20/;
          await eventually(() => expect(terminal.output()).toMatch(isPaid));
        } finally {
          await terminal.close();
          await rm(home, { recursive: true, force: true });
        }
      },
      480_000,
    );
  });

/** The language as the command that a person types. */
const asFunction = (name: string, { command, args, env }: Interpreter): string => {
  const quoted = [...Object.entries(env).map(([key, value]) => `${key}=${value}`), command, ...args];
  return `${name}() { env ${quoted.map((word) => `'${word}'`).join(' ')} "$@"; }`;
};

const linkIn = (output: string): string => /^(https?:\S+\/pay\/\S+)$/m.exec(output)?.[1] ?? 'no link yet';
