import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { unpackDebianPackages } from './debian-packages.ts';

/** The machine's Caddy, else Debian's, unpacked below `toolsDirectory`. @throws Error saying what to install when there is none. */
export async function caddyProgram(toolsDirectory: string): Promise<string> {
  const places = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const installed = places.map((place) => join(place, 'caddy')).find((file) => existsSync(file));
  if (installed !== undefined) return installed;
  const root = await unpackDebianPackages(toolsDirectory, { name: 'caddy', packages: ['caddy'] });
  return join(root, 'usr', 'bin', 'caddy');
}
