import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './places.ts';

/** The images that a release has: all of ours that a compose file names. Kubernetes uses some of them. */
export function imageNames(): string[] {
  const files = globSync('docker-compose*.yml', { cwd: repositoryRoot }).toSorted();
  const named = files.flatMap((file) => [
    ...readFileSync(join(repositoryRoot, file), 'utf8').matchAll(/^ *image: quittance\/([a-z-]+):/gm),
  ]);
  return [...new Set(named.map(([, name = '']) => name))];
}

// The release workflow builds one image in each of its jobs, from this list.
if (import.meta.main) process.stdout.write(`${JSON.stringify(imageNames())}\n`);
