import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

const cache = mkdtempSync(join(tmpdir(), 'quittance-compile-cache-'));
afterAll(() => rmSync(cache, { recursive: true }));

/** Runs in the service's process and reports at exit what it has loaded. */
const reporter = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const urls = [];
  registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
  process.on('exit', () => process.stdout.write(JSON.stringify([...urls, ...process.moduleLoadList])));
`)}`;

/** What a start without settings loads: everything except modules that load on first use. */
function loadedBy(service: ServiceName): string[] {
  const main = join(repositoryRoot, 'services', service, 'src', 'main.ts');
  const { stdout, status } = spawnSync(process.execPath, ['--import', reporter, main], {
    env: { NODE_COMPILE_CACHE: cache },
    encoding: 'utf8',
  });
  expect(status).toBe(78);
  return JSON.parse(stdout) as string[];
}

describe('a start', () => {
  test.each(['payments', 'webhook-dispatcher', 'quota'] as const)(
    'of %s loads no Prisma, which only operators need',
    (service) => {
      expect(loadedBy(service).filter((name) => /@prisma\/|generated\/client/.test(name))).toEqual([]);
    },
  );

  test('with the compile cache of an earlier one loads no type stripper, and without clients no HTTP client, not even Node’s', () => {
    loadedBy('quota');
    expect(loadedBy('quota').filter((name) => /amaro|\/undici\/|http2|\/got\//.test(name))).toEqual([]);
  });
});
