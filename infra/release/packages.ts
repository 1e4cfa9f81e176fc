import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from './places.ts';

const run = promisify(execFile);

/** What `build.ts` of a published package exports. */
type Builder = { build: (folder: string) => Promise<void> };

/** The folders of the packages that a release publishes: those whose package.json is not private. */
export function publishedFolders(): string[] {
  const manifests = globSync('packages/*/package.json', { cwd: repositoryRoot });
  return manifests
    .filter((file) => !('private' in (JSON.parse(readFileSync(join(repositoryRoot, file), 'utf8')) as object)))
    .map((file) => dirname(file))
    .toSorted();
}

/** Builds each published package by its `build.ts`, and packs it into the folder as npm will have it. */
export async function packAll(folder: string): Promise<void> {
  for (const published of publishedFolders()) {
    const built = await mkdtemp(join(tmpdir(), 'quittance-package-'));
    try {
      const { build } = (await import(join(repositoryRoot, published, 'build.ts'))) as Builder;
      await build(built);
      await nameRepository(join(built, 'package.json'), published);
      await run('npm', ['pack', '--pack-destination', folder], { cwd: built });
    } finally {
      await rm(built, { recursive: true });
    }
  }
}

/** GitHub's workflow knows the repository, which npm compares with its provenance. A package that is packed elsewhere names none. */
async function nameRepository(manifest: string, directory: string): Promise<void> {
  const { GITHUB_REPOSITORY: repository } = process.env;
  if (repository === undefined) return;
  const written = JSON.parse(readFileSync(manifest, 'utf8')) as object;
  const named = { type: 'git', url: `git+https://github.com/${repository}.git`, directory };
  await writeFile(manifest, `${JSON.stringify({ ...written, repository: named }, null, 2)}\n`);
}
