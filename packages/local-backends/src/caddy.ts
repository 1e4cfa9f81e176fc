import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unpackDebianPackages } from './debian-packages.ts';
import { placesOnPath } from './on-path.ts';

/** The machine's Caddy, else Debian's, unpacked below `toolsDirectory`. @throws Error saying what to install when there is none. */
export async function caddyProgram(toolsDirectory: string): Promise<string> {
  const installed = placesOnPath('caddy').find((file) => existsSync(file));
  if (installed !== undefined) return installed;
  const root = await unpackDebianPackages(toolsDirectory, { name: 'caddy', packages: ['caddy'] });
  return join(root, 'usr', 'bin', 'caddy');
}
