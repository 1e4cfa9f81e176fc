import { open, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { libraryPath } from './debian-packages.ts';

/**
 * Makes the programs below `folder` of an unpacked tree of another Debian release run on this machine. Each gets a script
 * that starts it with the tree's own loader and C library. This needs no special permissions, unlike chroot. Programs of
 * the machine that they start keep the machine's libraries, which an LD_LIBRARY_PATH in the environment would break.
 * The tree may be moved afterwards.
 * @param folder with the programs, relative to the root.
 * @throws Error when the tree has no loader, as on an untested architecture.
 */
export async function useOwnLibraries(root: string, folder: string): Promise<void> {
  const loader = await loaderOf(root);
  const libraries = (await libraryPath(root)).split(':').map((path) => relative(root, path));
  for (const program of await programsBelow(join(root, folder))) {
    await rename(program, `${program}.program`);
    await writeFile(program, starter({ loader, libraries, up: relative(dirname(program), root) }), { mode: 0o755 });
  }
}

/** @param up from the script's folder to the root. */
function starter({ loader, libraries, up }: { loader: string; libraries: string[]; up: string }): string {
  const paths = libraries.map((path) => `$root/${path}`).join(':');
  return [
    '#!/bin/sh',
    // Such a program may be called through a link, and some check the name they were called by.
    'self="$(readlink -f "$0")"',
    `root="\${self%/*}/${up}"`,
    `exec "$root/${loader}" --argv0 "$0" --library-path "${paths}" "$self.program" "$@"`,
    '',
  ].join('\n');
}

async function loaderOf(root: string): Promise<string> {
  for (const folder of ['usr/lib64', 'usr/lib']) {
    const names = await readdir(join(root, folder)).catch(() => []);
    const loader = names.find((name) => /^ld-linux.*\.so\.\d+$/.test(name));
    if (loader !== undefined) return join(folder, loader);
  }
  throw new Error(`${root} has no loader for its programs`);
}

/** Programs, without the libraries in the same folders. */
async function programsBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !/\.so(?:\.|$)/.test(entry.name) && (await isElf(path))) found.push(path);
  }
  return found;
}

async function isElf(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && buffer.toString('latin1') === '\u007fELF';
  } finally {
    await file.close();
  }
}
