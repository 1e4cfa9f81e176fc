import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildAll, pack } from '../../../infra/release/packages.ts';
import { openapiTypes } from '../write-types.ts';

const run = promisify(execFile);
const compiler = new URL('../../../node_modules/typescript/bin/tsc', import.meta.url).pathname;

let folder: string;
let built: string;
let packed: Awaited<ReturnType<typeof pack>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quittance-sdk-'));
  const packages = await buildAll(join(folder, 'built'));
  built = packages.find(({ manifest }) => manifest.name === '@quittance/sdk')!.directory;
  packed = await pack(built, folder);
  await writeFile(join(folder, 'package.json'), '{ "name": "shop", "private": true }');
  const words = ['install', '--offline', '--no-audit', '--no-fund', '--cache', join(folder, 'cache'), packed.file];
  await run('npm', words, { cwd: folder });
}, 600_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const use = `
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', maxRetries: 0 });
  client.getLimits().catch((error) => console.log(error instanceof QuittanceError, error.code, typeof verifyWebhook));
`;

test('its types are those of docs/openapi.yaml; `npm run sdk` writes them', async () => {
  const text = await readFile(new URL('../src/openapi.ts', import.meta.url), 'utf8');
  expect(text === (await openapiTypes())).toBe(true);
});

test('is small and needs nothing else', async () => {
  const { dependencies } = JSON.parse(await readFile(join(built, 'package.json'), 'utf8')) as Record<string, unknown>;
  expect(dependencies).toBeUndefined();
  expect(packed.size).toBeLessThan(110_000);
});

test('installs into a bare project with nothing else, and is loaded by import and by require', async () => {
  expect(await readdir(join(folder, 'node_modules', '@quittance'))).toEqual(['sdk']);
  expect((await readdir(join(folder, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual(['@quittance']);
  await writeFile(
    join(folder, 'shop.mjs'),
    `import { createClient, QuittanceError, verifyWebhook } from '@quittance/sdk';${use}`,
  );
  await writeFile(
    join(folder, 'shop.cjs'),
    `const { createClient, QuittanceError, verifyWebhook } = require('@quittance/sdk');${use}`,
  );
  for (const file of ['shop.mjs', 'shop.cjs']) {
    const { stdout } = await run(process.execPath, [file], { cwd: folder });
    expect([file, stdout.trim()]).toEqual([file, 'true no_answer function']);
  }
});

test('includes the rehearsal of a receiver as a command', async () => {
  const server = createServer((_request, response) => response.writeHead(401).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const command = run(join(folder, 'node_modules', '.bin', 'quittance-rehearse'), [url, '--json'], { cwd: folder });
    const { code, stdout } = await command.then(
      (ended) => ({ ...ended, code: 0 }),
      (error: unknown) => error as { code: number; stdout: string },
    );
    const { checks } = JSON.parse(stdout) as { checks: unknown[] };
    expect([code, checks[0]]).toMatchObject([1, { id: 'genuine', result: 'fault', seen: 'answered 401' }]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('includes the verifier of proofs as a command', async () => {
  const vectors = new URL('../../../docs/vectors/payment-proofs.json', import.meta.url);
  const { proofs } = JSON.parse(await readFile(vectors, 'utf8')) as { proofs: { block_hash: string; proof: object }[] };
  const [{ block_hash: hash, proof }] = proofs as [(typeof proofs)[0]];
  await writeFile(join(folder, 'proof.json'), JSON.stringify(proof));
  const command = join(folder, 'node_modules', '.bin', 'quittance-verify');
  const { stdout } = await run(command, ['proof.json', '--block-hash', hash], { cwd: folder });
  expect(stdout).toContain('Received 49903700 base units of 49903700');
});

test('its declarations are valid for a strict project of either kind', async () => {
  const source = `
    import { createClient, type Payment, type WebhookEvent } from '@quittance/sdk';
    const client = createClient({ baseUrl: 'https://pay.example' });
    export const created: Promise<Payment> = client.createPayment({ amount: '1', merchant_wallet: '0x', description: 'Tea' });
    // @ts-expect-error an amount is text
    void client.createPayment({ amount: 1, merchant_wallet: '0x', description: 'Tea' });
    // @ts-expect-error the API knows no such status
    void client.listPayments({ status: 'DONE' });
    export const isPaid = (event: WebhookEvent): string | null => (event.status === 'PAID' ? event.payment_id : null);
  `;
  await writeFile(join(folder, 'esm.mts'), source);
  await writeFile(join(folder, 'cjs.cts'), source);
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    noEmit: true,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['esm.mts', 'cjs.cts'] }));
  await run(process.execPath, [compiler], { cwd: folder }).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout, { cause: error });
  });
});
