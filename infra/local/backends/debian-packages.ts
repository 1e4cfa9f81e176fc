import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { complaintOf } from './child.ts';

const run = promisify(execFile);
const maxBuffer = 10_000_000;

export type PackageTree = {
  /** The name of the unpacked tree below the tools directory. */
  name: string;
  packages: string[];
  /** Makes the tree work where it lies; called once, before anybody can see it. */
  adapt?: (root: string) => Promise<void>;
};

/**
 * Debian's own packages, downloaded and unpacked below `toolsDirectory`: nothing is installed, no rights are needed, no
 * state of the system changes. Shared libraries that the machine lacks come along.
 * Two processes may do this at once: each unpacks under a name of its own, and the first one's tree is taken by both.
 * @returns the root of the tree (`usr/…` is below it).
 * @throws Error saying what to do when the machine has no apt, or apt knows no such packages.
 */
export async function unpackDebianPackages(toolsDirectory: string, tree: PackageTree): Promise<string> {
  const root = join(toolsDirectory, tree.name);
  if (existsSync(root)) return root;
  if (!(await succeeds('apt-get', ['--version'])) || !(await succeeds('dpkg-deb', ['--version']))) {
    throw new Error(
      `This machine has no ${tree.name}, and it is not a Debian or Ubuntu from whose packages it could be taken. ` +
        `Install ${tree.name} (brew install ${tree.name.replace('-server', '')}, say), so that it is found on the PATH.`,
    );
  }

  await mkdir(toolsDirectory, { recursive: true });
  const work = await mkdtemp(join(toolsDirectory, `.${tree.name}-`));
  try {
    await download(work, tree);
    const unpacked = join(work, 'root');
    for (const file of await readdir(work)) {
      if (file.endsWith('.deb')) await run('dpkg-deb', ['-x', join(work, file), unpacked]);
    }
    await tree.adapt?.(unpacked);
    await rename(unpacked, root).catch((error: unknown) => {
      if (!existsSync(root)) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return root;
}

/** For programs of an unpacked tree: its libraries before the machine's. */
export async function libraryPath(root: string): Promise<string> {
  const directories: string[] = [];
  for (const parent of [join(root, 'usr', 'lib'), join(root, 'lib')]) {
    const names = await readdir(parent).catch(() => []);
    directories.push(...names.filter((name) => name.includes('-linux-')).map((name) => join(parent, name)));
  }
  return directories.join(':');
}

/** With the machine's package lists, and when those are missing or out of date, with fresh ones of our own. */
async function download(work: string, tree: PackageTree): Promise<void> {
  try {
    await downloadWith([], work, tree);
    return;
  } catch {
    // A machine whose lists were never fetched, or name a version that the server no longer has.
  }
  try {
    const lists = await privateLists(work);
    await run('apt-get', [...lists, 'update'], { maxBuffer });
    await downloadWith(lists, work, tree);
  } catch (error) {
    throw new Error(
      `The Debian packages of ${tree.name} could not be downloaded:\n${complaintOf(error)}\n` +
        `Either install it (apt-get install ${tree.name}), or make "apt-get update" work and try again.`,
      { cause: error },
    );
  }
}

async function downloadWith(options: string[], work: string, { packages }: PackageTree): Promise<void> {
  const known = await run('apt-cache', [...options, 'depends', '--no-recommends', ...packages], {
    maxBuffer,
  });
  const installed = await installedPackages();
  const libraries = [...known.stdout.matchAll(/^ +Depends: (lib[a-z0-9.+-]+)$/gm)].map(([, library = '']) => library);
  const wanted = new Set([
    ...packages,
    ...libraries.filter((library) => !isModule(library) && !installed.has(library)),
  ]);
  // As root apt would drop to a user of its own, who may not write here.
  await run('apt-get', [...options, '-o', 'APT::Sandbox::User=root', 'download', ...wanted], {
    cwd: work,
    maxBuffer,
  });
}

/** A plug-in of nginx is called lib… too, and would bring libraries of its own. */
function isModule(name: string): boolean {
  return name.startsWith('libnginx-');
}

async function installedPackages(): Promise<Set<string>> {
  const { stdout } = await run('dpkg-query', ['-W', '-f=${Package} ${db:Status-Status}\n'], { maxBuffer });
  return new Set([...stdout.matchAll(/^(\S+) installed$/gm)].map(([, name = '']) => name));
}

async function privateLists(work: string): Promise<string[]> {
  const state = join(work, 'apt');
  await mkdir(join(state, 'lists', 'partial'), { recursive: true });
  await mkdir(join(state, 'archives', 'partial'), { recursive: true });
  return [
    ...['-o', `Dir::State::Lists=${join(state, 'lists')}`, '-o', `Dir::Cache=${state}`],
    ...['-o', `Dir::Cache::Archives=${join(state, 'archives')}`, '-o', 'APT::Sandbox::User=root'],
  ];
}

async function succeeds(command: string, args: string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  );
}
