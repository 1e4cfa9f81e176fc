import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { pinnedCompose, type PushedImages } from './image-files.ts';
import { repositoryRoot } from './places.ts';

export const composeArchiveName = 'quittance-compose.tar.gz';

/** What a server with Docker alone needs to set up and run a release, in addition to its compose files and what these mount. */
const parts = [
  '.env.example',
  'CHANGELOG.md',
  'LICENSE',
  'infra/docker/backup.sh',
  'infra/docker/init.sh',
  'infra/networks.json',
  'infra/observability/alertmanager.example.yml',
];

/**
 * Writes the archive from which a server runs a release: a folder `quittance` with the compose files, pinned to the pushed images. It has
 * none of the files that `init` and people write, so unpacking a later release over it keeps these.
 */
export async function writeComposeArchive(images: PushedImages, file: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'quittance-compose-'));
  try {
    const folder = join(work, 'quittance');
    const copied = new Set(parts);
    await mkdir(folder);
    for (const name of globSync('docker-compose*.yml', { cwd: repositoryRoot })) {
      const text = await readFile(join(repositoryRoot, name), 'utf8');
      for (const [, mounted = ''] of text.matchAll(/\.\/(infra\/[\w./-]+\w)/g)) copied.add(mounted);
      await writeFile(join(folder, name), pinnedCompose(text, images));
    }
    for (const part of copied) {
      await mkdir(dirname(join(folder, part)), { recursive: true });
      await cp(join(repositoryRoot, part), join(folder, part), { recursive: true });
    }
    await promisify(execFile)('tar', ['-czf', file, '-C', work, 'quittance']);
  } finally {
    await rm(work, { recursive: true });
  }
}
