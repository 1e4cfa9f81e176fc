import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { parseImages } from './image-files.ts';
import { currentVersion } from './places.ts';

/**
 * Signs and publishes what write-files.ts wrote. It loads nothing but Node, and runs cosign, helm and npm: the workflow's job that may
 * publish installs no dependencies. Running it again is safe.
 *
 *   publish.ts FOLDER REGISTRY               by the identity of the workflow
 *   publish.ts FOLDER REGISTRY --key FILE    by a key, for the rehearsal: into registries without TLS, and without a transparency log
 *
 * REGISTRY is where the chart goes, such as ghcr.io/OWNER/quittance. npm has its registry and token from its own settings.
 */
const { positionals, values } = parseArgs({ allowPositionals: true, options: { key: { type: 'string' } } });
const [folder = '', registry = ''] = positionals;
if (folder === '' || registry === '') throw new Error('usage: publish.ts FOLDER REGISTRY [--key FILE]');
const version = currentVersion();
const signing = values.key === undefined ? ['--yes'] : ['--yes', '--key', values.key, '--tlog-upload=false'];
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

for (const { name, digest } of Object.values(parseImages(readFileSync(join(folder, 'images.txt'), 'utf8'))))
  await sign(`${name}@${digest}`);
await pushChart(join(folder, `quittance-${version}.tgz`));
await signSums();
await nameToken();
const packages = readdirSync(folder).filter((file) => file.endsWith('.tgz') && file !== `quittance-${version}.tgz`);
for (const file of packages) await publishPackage(join(folder, file));

async function sign(artifact: string): Promise<void> {
  await run('cosign', ['sign', ...signing, artifact]);
  say(`signed    ${artifact}`);
}

async function pushChart(file: string): Promise<void> {
  const words = ['push', file, `oci://${registry}/charts`, ...(values.key === undefined ? [] : ['--plain-http'])];
  const [, digest] = /^Digest: (sha256:[0-9a-f]{64})$/m.exec(await run('helm', words)) ?? [];
  if (digest === undefined) throw new Error('helm names no digest of the pushed chart');
  say(`pushed    oci://${registry}/charts/quittance:${version}`);
  await sign(`${registry}/charts/quittance@${digest}`);
}

/** One signature for all files: SHA256SUMS has their digests. */
async function signSums(): Promise<void> {
  const sums = join(folder, 'SHA256SUMS');
  await run('cosign', ['sign-blob', ...signing, '--new-bundle-format', '--bundle', `${sums}.sigstore.json`, sums]);
  say(`signed    SHA256SUMS`);
}

/** The token stays in the environment, where npm looks it up. Without one npm uses its own settings, or the identity of the workflow. */
async function nameToken(): Promise<void> {
  if (!process.env['NODE_AUTH_TOKEN']) return;
  const npmRegistry = (await run('npm', ['config', 'get', 'registry'])).trim();
  await run('npm', ['config', 'set', `${npmRegistry.replace(/^https?:/, '')}:_authToken`, '${NODE_AUTH_TOKEN}']);
}

/** npm accepts a version only once, so a repeated run skips the packages that are there. */
async function publishPackage(file: string): Promise<void> {
  const [, name = ''] = /\/quittance-([a-z0-9-]+)-\d+\.\d+\.\d+\.tgz$/.exec(file) ?? [];
  const wanted = `@quittance/${name}@${version}`;
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  const there = (await run('npm', ['view', wanted, 'dist.integrity', '--loglevel', 'error']).catch(absent)).trim();
  if (there !== '' && there !== integrity) throw new Error(`npm has another ${wanted}: publish a new version`);
  const provenance = values.key === undefined ? ['--provenance'] : [];
  if (there === '') await run('npm', ['publish', file, '--access', 'public', ...provenance]);
  say(`${there === '' ? 'published' : 'has      '} ${wanted}`);
}

function absent(error: unknown): string {
  if (error instanceof Error && error.message.includes('E404')) return '';
  throw error;
}

/** @returns stdout and stderr, because helm writes digests to either. @throws Error with both. */
async function run(program: string, words: string[]): Promise<string> {
  const done = await promisify(execFile)(program, words).catch((error: unknown) => {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${program} ${words[0] ?? ''} failed: ${stdout + stderr || message}`);
  });
  return program === 'npm' ? done.stdout : done.stdout + done.stderr;
}
