import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import type Dockerignore from '@balena/dockerignore';

/** It is a CommonJS module, although its types say otherwise. */
const dockerignore = createRequire(import.meta.url)('@balena/dockerignore') as (typeof Dockerignore)['default'];
const rules = dockerignore().add(readFileSync(join(repositoryRoot, '.dockerignore'), 'utf8'));

/** Whether the file is sent to the engine. `path` is relative to the repository's root. */
export const isInContext = (path: string): boolean => !rules.ignores(path);

/** Copies what `COPY . .` would copy: the repository without what .dockerignore excludes. */
export async function copyContext(target: string): Promise<void> {
  await Promise.all(
    contextFiles().map(async (path) => {
      await mkdir(dirname(join(target, path)), { recursive: true });
      await cp(join(repositoryRoot, path), join(target, path), { preserveTimestamps: true });
    }),
  );
}

/** Its files. Folders in which everything is excluded are skipped, and links are not followed. */
export function contextFiles(folder = ''): string[] {
  return readdirSync(join(repositoryRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return isInContext(path) ? [path] : [];
    return entry.isDirectory() && !/^(node_modules|\.git|\.local|generated)$/.test(entry.name)
      ? contextFiles(path)
      : [];
  });
}
