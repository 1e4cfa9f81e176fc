import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { haveImage, images } from './container.ts';
import { libraryPath, unpackDebianPackages } from './debian-packages.ts';
import { placesOnPath } from './on-path.ts';

/** How nginx is started: with a command, or in a container with the same files and network. */
export type NginxProgram = { command: string; env: NodeJS.ProcessEnv } | { image: string };

/** The machine's nginx, if it has one. */
export function installedNginx(): string | undefined {
  const places = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/opt/homebrew/bin/nginx'];
  return [...placesOnPath('nginx'), ...places].find((file) => existsSync(file));
}

/** @throws Error when the source has no nginx and can't get it. */
export async function nginxProgram(
  source: 'machine' | 'packages' | 'engine',
  toolsDirectory: string,
): Promise<NginxProgram> {
  if (source === 'machine') return { command: installedNginx() ?? 'nginx', env: process.env };
  if (source === 'engine') {
    await haveImage(images.nginx);
    return { image: images.nginx };
  }
  // The program is in the first package or the second, depending on the release.
  const root = await unpackDebianPackages(toolsDirectory, { name: 'nginx', packages: ['nginx', 'nginx-core'] });
  return { command: join(root, 'usr/sbin/nginx'), env: { ...process.env, LD_LIBRARY_PATH: await libraryPath(root) } };
}

/** Options of `docker run`: the files at their path, the machine's network and user. */
export const nginxContainer = (directory: string): string[] => [
  ...['--network', 'host', '--volume', `${directory}:${directory}`],
  ...['--user', `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`],
];
