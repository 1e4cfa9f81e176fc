import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { composedSystem, type ComposedSystem } from './support/composed-system.ts';
import { containment } from './support/containment.ts';
import { runContainer, startContainer, type Container } from './support/container.ts';
import { finalInstruction, healthCommand } from './support/dockerfile.ts';
import { layOut, type Layouts } from './support/layouts.ts';

const found = containment();
const shutIn = 'impossible' in found ? null : found;
if ('impossible' in found) {
  console.warn(
    `SKIPPED: the restrictions of a container are not tested, because this machine cannot isolate a process: ${found.impossible}\n` +
      'The services run from the trees of their images with the environment of compose, as the user who runs the tests.',
  );
}
const testShutIn = shutIn === null ? test.skip : test;

let layouts: Layouts;
let system: ComposedSystem;
const running = new Map<string, Container>();

/** What has to be undone, also when the setup failed half-way. */
const undo: (() => Promise<void>)[] = [];

beforeAll(async () => {
  layouts = await layOut(['setup', ...serviceNames]);
  undo.push(layouts.remove);
  system = await composedSystem(layouts);
  undo.push(system.stop);
}, 600_000);
afterAll(async () => {
  await Promise.all([...running.values()].map((container) => container.kill()));
  for (const step of undo.reverse()) await step();
});

/** Runs it to its end, as compose defines it. */
const run = (name: string, change?: Parameters<ComposedSystem['plan']>[1]) =>
  runContainer(system.plan(name, change), shutIn);

describe('the trees of the images', () => {
  test.each(['setup', ...serviceNames])(
    'of %s has nothing that its user can change, and nothing of the build',
    (name) => {
      const find = (...words: string[]) => execFileSync('find', [layouts.app(name), ...words], { encoding: 'utf8' });
      const named = (...names: string[]) => names.flatMap((pattern) => ['-o', '-name', pattern]).slice(1);
      expect(find('!', '-type', 'l', '-perm', '/022', '!', '-path', join(layouts.app(name), 'volume'))).toBe('');
      expect(find(...named('.env*', '.bin', '*.map', '.modules.yaml'))).toBe('');
      expect(find('!', '-path', '*/.pnpm/*', '-name', '*.test.ts')).toBe('');
      // What only tests and generators need.
      expect(find('-path', '*/.pnpm/*', ...['(', ...named('jest@*', 'typescript@*', 'prisma@*'), ')'])).toBe('');
      // Node would not strip the types of a file below node_modules.
      expect(find('-path', '*/node_modules/*', '-path', '*@quittance*', '-name', '*.ts')).toBe('');
    },
  );

  test('are identical in every byte and time where they have the same content, whenever they were built', () => {
    for (const part of ['packages', 'node_modules']) {
      expect(fingerprint(join(layouts.app('payments'), part))).toBe(fingerprint(join(layouts.app('quota'), part)));
    }
  });
});

describe('as docker-compose.yml runs them', () => {
  test('the database is prepared, twice, and every schema migrated by the image of its service', async () => {
    expect(await run('database')).toContain('database quittance is ready');
    await run('database');
    await Promise.all(serviceNames.map((name) => run(`migrate-${name}`)));
  });

  test('every service starts, is live, becomes ready, and its health check says so', async () => {
    for (const name of serviceNames) running.set(name, await startContainer(system.plan(name), shutIn));
    await Promise.all(
      serviceNames.map(async (name) => {
        const container = running.get(name)!;
        void container.ended.then(() => running.delete(name));
        for (const path of ['/livez', '/readyz', '/metrics']) {
          await eventually(async () => expect(await status(system.url(name) + path)).toBe(200)).catch(
            (error: unknown) => {
              throw new Error(`${name} does not answer ${path}:\n${container.log()}`, { cause: error });
            },
          );
        }
        // A busy machine may be too slow for a check; an engine repeats it too.
        await eventually(() => run(name, { command: healthCommand }));
        await eventually(() => run(name, { command: [...healthCommand, '/readyz'] }));
      }),
    );
  }, 300_000);

  test('the gateway contains its documentation, and can render it', async () => {
    for (const path of [
      '/docs',
      '/docs/sdk',
      '/docs/receiving-webhooks',
      '/docs/mcp',
      '/docs/medusa',
      '/docs/vendure',
      '/llms.txt',
      '/docs/webhook-signatures.json',
      '/openapi.json',
    ]) {
      await eventually(async () => expect([path, await status(system.url('api-gateway') + path)]).toEqual([path, 200]));
    }
  });

  testShutIn.each(serviceNames)(
    '%s is process 1, user 10001, without a capability, on a read-only root',
    async (name) => {
      const pid = await running.get(name)!.pid();
      const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
      const inside = process.getuid?.() === 0 ? /^(?:Uid|Gid):(\t10001){4}$/gm : /^/g;
      expect(read('status').match(inside)).not.toBeNull();
      expect(read('status')).toMatch(/^NSpid:.*\t1$/m);
      expect(read('status').match(/^Cap(?:Inh|Prm|Eff|Amb):\t0{16}$/gm)).toHaveLength(4);
      expect(read('status')).toMatch(/^NoNewPrivs:\t1$/m);
      // Mount point and options: of everything visible, only /tmp and what the kernel provides.
      const writable = read('mountinfo')
        .trim()
        .split('\n')
        .map((line) => line.split(' '))
        .filter(([, , , , point = '', options = '']) => /^rw/.test(options) && !/^\/(?:dev|proc)/.test(point))
        .map(([, , , , point]) => point);
      expect(writable).toEqual(['/tmp']);
      const names = read('environ')
        .split('\0')
        .filter(Boolean)
        .map((entry) => entry.split('=')[0]!);
      expect(names.sort()).toEqual(['PATH', ...Object.keys(system.plan(name).environment)].sort());
    },
  );

  testShutIn('only /tmp is writable', async () => {
    const program = `
      const { writeFileSync } = require('node:fs');
      const places = ['/', '/app', '/app/main.ts', '/app/node_modules', '/etc', '/usr', '/usr/local/bin', '/home', '/dev', '/proc', '/tmp'];
      for (const place of places) {
        try { writeFileSync(place.includes('.') ? place : place + '/written', 'x'); console.log(place + ' ok'); }
        catch ({ code }) { console.log(place + ' ' + code); }
      }
      console.log(process.getuid() + ':' + process.getgid() + ' ' + (process.env.HOME ?? 'no home'));`;
    const said = (await run('quota', { command: ['node', '-e', program] })).trim().split('\n');
    expect(said.pop()).toBe(`${finalInstruction('USER')} no home`);
    expect(said.filter((line) => line.endsWith(' ok'))).toEqual(['/tmp ok']);
    expect(said.filter((line) => !/ (?:ok|EROFS|EACCES|ENOENT)$/.test(line))).toEqual([]);
  });

  test('the health check fails if the answer is not 200, or there is none', async () => {
    const ask = (path: string, environment: Record<string, string>) =>
      run('quota', { command: [...healthCommand, path], environment });
    await eventually(() => expect(ask('/nothing', system.plan('quota').environment)).rejects.toThrow('status 404'));
    await expect(ask('/livez', { PORT: '1' })).rejects.toThrow('http://127.0.0.1:1/livez');
    // As in docker-compose.single.yml: one silent port is enough.
    const ports = [new URL(system.url('quota')).port, '1'];
    const several = { command: [...healthCommand, '/livez', ...ports] };
    await expect(run('quota', several)).rejects.toThrow('http://127.0.0.1:1/livez');
    await eventually(() => run('quota', { command: [...several.command.slice(0, -1)] }));
  });

  test('the command line works from the image, against the services that run', async () => {
    const words = ['--actor', 'olga', '--json'];
    const [entry = ''] = system.plan('ops').command;
    // In isolation, `ops` is found by the link that the Dockerfile creates.
    const ops = shutIn === null ? ['node', 'packages/ops/src/main.ts'] : [entry];
    const made = await run('ops', { command: [...ops, 'merchant', 'create', '--name', 'Shop', ...words] });
    const { merchant_id: merchant } = JSON.parse(made) as { merchant_id: string };
    expect(await run('ops', { command: [...ops, 'merchant', 'show', merchant, '--json'] })).toContain('Shop');
  });

  test('the test USDT is deployed at the address in the networks file', async () => {
    const networks = readFileSync(system.plan('payments').binds![0]!.source, 'utf8');
    const { usdt_contract: contract } = (JSON.parse(networks) as [{ usdt_contract: string }])[0];
    expect(await run('test-token')).toBe(`the test USDT is at ${contract}\n`);
    expect(await run('test-token')).toBe(`the test USDT is at ${contract}\n`);
  });

  testShutIn('the configuration of the edge is written to the one folder that a volume is mounted on', async () => {
    const source = join(layouts.directory, 'edge-configuration');
    mkdirSync(source, { mode: 0o777 });
    // As an engine does with a new volume.
    execFileSync('chmod', [`--reference=${layouts.app('setup')}/volume`, source]);
    await run('edge-configuration', { binds: [{ source, path: '/app/volume', writable: true }] });
    const configuration = readFileSync(join(source, 'nginx.conf'), 'utf8');
    expect(configuration).toContain('server 10.213.250.10:8080 max_fails');
    expect(configuration).toContain('pid "/tmp/nginx.pid"');
    expect(statSync(join(source, 'nginx.conf')).mode & 0o044).toBe(0o044);
  });

  test('SIGTERM ends every service cleanly, although it is process 1', async () => {
    const endings = [...running].map(async ([name, container]) => {
      await container.signal('SIGTERM');
      const code = await container.ended;
      return [name, code, /"msg":"stopped"/.test(container.log()) ? '' : container.log()];
    });
    expect(endings).toHaveLength(serviceNames.length);
    for (const [name, code] of await Promise.all(endings)) expect([name, code]).toEqual([name, 0]);
  });
});

async function status(url: string): Promise<number> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await answer.arrayBuffer();
  return answer.status;
}

/** Names, types, modes, times, link targets and contents of everything below a folder. */
function fingerprint(folder: string): string {
  const script = `cd "$1" && { find . -printf '%p %y %m %T@ %l\\n' | LC_ALL=C sort; find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; } | sha256sum`;
  return execFileSync('sh', ['-c', script, 'sh', folder], { encoding: 'utf8' });
}
