import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { isPortTaken } from '../../../infra/docker/setup/init/checks.ts';
import { composeArchiveName, writeComposeArchive } from '../../../infra/release/compose-archive.ts';
import { imageNames } from '../../../infra/release/image-names.ts';
import { goLiveBlocks, verdictOf } from '../../support/go-live.ts';
import { ownEnvironment } from '../../support/journey-stack.ts';
import type { Shared } from './shared.ts';

/**
 * Replaces the container engine: this Node runs the image commands of the page, `init` in the folder and `ops` against the stack. All other
 * commands fail, so a block that needs an engine cannot pass.
 */
const docker = `#!/bin/sh
case "$1 $2" in
  'compose run') ;;
  'run --rm')
    while [ "$1" != /app/main.ts ]; do shift; done
    shift
    exec node "$CHECKOUT/infra/docker/setup/main.ts" "$@" ;;
  *) echo "no engine here for: docker $*" >&2; exit 125 ;;
esac
shift 2
while [ "$1" != ops ]; do shift; done
shift
exec node "$CHECKOUT/packages/ops/src/main.ts" "$@"
`;

export const goLive = (shared: Shared): void =>
  describe('docs/go-live.md', () => {
    test('leads from nothing to a paid payment, block by block', async () => {
      // The page's init would correctly refuse them as taken.
      const busy = await Promise.all([80, 443].map(isPortTaken));
      if (busy.includes(true)) {
        console.warn('SKIPPED: something listens on port 80 or 443 of this machine, where the page wants its proxy.');
        return;
      }
      const began = performance.now();
      const arrival = await mkdtemp(join(tmpdir(), 'quittance-go-live-'));
      try {
        const download = await prepare(arrival);
        const home = join(arrival, 'quittance');
        const tron = addressFromHex('tron', newWallet());
        const known: Record<string, string> = {
          '<your Tron wallet>': tron,
          '<your Ethereum wallet>': newWallet(),
          '<name>': 'some-name',
          '<key>': '0123456789abcdef',
          '/etc/quittance/networks.json': join(shared.directory.root, 'networks.json'),
          'https://pay.example.com/': `${shared.stack.file.edge_url}/`,
          '<this repository>/releases/download/v<version>': download,
        };
        const typed = (text: string): string =>
          Object.entries(known).reduce((filled, [mark, value]) => filled.replaceAll(mark, value), text);

        for (const block of goLiveBlocks) {
          if (block.language === 'text') await writeFile(join(home, block.title), typed(block.code));
          if (block.language !== 'sh' || verdictOf(block) !== 'run') continue;
          // The first block fetches the release; all others run in its folder.
          const isFetched = existsSync(home);
          const output = await run(typed(block.code), isFetched ? home : arrival, shared.directory.root);
          if (!isFetched) await useFreePort(home);
          const [, key] = /(qk_[\w-]{43})/.exec(output) ?? [];
          if (key !== undefined) known['<the API key>'] = key;
          if (output.includes('"signing_key"')) expect(output).toContain('"delivered":true');
          const [, payment] = /"payment_id":"(pay_\w+)"/.exec(output) ?? [];
          if (payment === undefined || known['<payment_id>'] !== undefined) continue;
          known['<payment_id>'] = payment;
          await payOnChain(shared.stack.file.chain, tron, '1');
          await eventually(async () => expect(await show(payment, home, shared)).toMatch(/PAID[^]*delivered/), {
            intervalMs: 2_000,
          });
        }
        expect(known['<payment_id>']).toBeDefined();
        const environment = parseEnv(await readFile(join(home, '.env'), 'utf8'));
        expect(environment['COMPOSE_FILE']).toMatch(/:docker-compose\.tls\.yml:docker-compose\.alerts\.yml$/);
        const minutes = ((performance.now() - began) / 60_000).toFixed(1);
        process.stdout.write(
          `docs/go-live.md took ${minutes} minutes of commands, without an engine's and the internet's.\n`,
        );
      } finally {
        await rm(arrival, { recursive: true, force: true });
      }
    }, 480_000);
  });

/**
 * Puts a release's page and the stand-in for the engine into the folder. The images of the release were never pushed, because no engine
 * will pull them. @returns the URL at which the files of the release are.
 */
async function prepare(arrival: string): Promise<string> {
  const page = join(arrival, 'page');
  await mkdir(page);
  const image = (name: string) => ({ name: `registry.test/${name}`, digest: `sha256:${'0'.repeat(64)}` });
  const archive = join(page, composeArchiveName);
  await writeComposeArchive(Object.fromEntries(imageNames().map((name) => [name, image(name)])), archive);
  const sum = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex');
  await writeFile(join(page, 'SHA256SUMS'), `${sum}  ${composeArchiveName}\n`);
  await writeFile(join(page, 'SHA256SUMS.sigstore.json'), '{}\n');
  await mkdir(join(arrival, 'bin'));
  await writeFile(join(arrival, 'bin', 'docker'), docker);
  await chmod(join(arrival, 'bin', 'docker'), 0o755);
  return pathToFileURL(page).href;
}

/** The stack has the port that the page means. */
async function useFreePort(home: string): Promise<void> {
  const example = await readFile(join(home, '.env.example'), 'utf8');
  const published = `EDGE_PUBLISH=127.0.0.1:${String(await freePort())}`;
  await writeFile(join(home, '.env.example'), example.replace(/^EDGE_PUBLISH=.*$/m, published));
}

const show = (payment: string, home: string, { directory }: Shared): Promise<string> =>
  run(
    `docker compose run ops payment show ${payment} && docker compose run ops webhook show ${payment}`,
    home,
    directory.root,
  );

/** @throws Error with all output, when a command of the block fails. */
async function run(block: string, cwd: string, stackDirectory: string): Promise<string> {
  const env = {
    ...ownEnvironment(),
    PATH: `${binIn(cwd)}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    CHECKOUT: repositoryRoot,
    LOCAL_DIRECTORY: stackDirectory,
    USER: 'olga',
  };
  const child = spawn('sh', ['-e', '-c', block], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`ended with ${String(code)}:\n${block}\n${output}`);
  return output;
}

/** Next to the release's folder. */
const binIn = (cwd: string): string => (existsSync(join(cwd, 'bin')) ? join(cwd, 'bin') : join(cwd, '..', 'bin'));
