import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { complaintOf } from './child.ts';

const run = promisify(execFile);
const maxBuffer = 10_000_000;

export type PackageTree = {
  /** The name of the unpacked tree below the tools directory. */
  name: string;
  packages: string[];
  /**
   * `direct`: the libraries that `packages` depend on. `all`: also the libraries of those, for programs that a small
   * machine can't run otherwise.
   */
  libraries?: 'direct' | 'all';
  /**
   * The name of a Debian release other than the machine's. All libraries are included, even the C library; `adapt` must
   * make the programs use them (see another-release.ts).
   */
  release?: string;
  /** Makes the tree work in its place. Called once, before the tree is visible. */
  adapt?: (root: string) => Promise<void>;
};

/**
 * Downloads Debian packages and unpacks them below `toolsDirectory`. Nothing is installed, no permissions are needed,
 * and the system isn't changed. Shared libraries that the machine lacks are included.
 * Two processes may do this at the same time: each unpacks under its own name, and both use the tree that is finished
 * first.
 * @returns the root of the tree (`usr/…` is below it).
 * @throws Error that says what to do when the machine has no apt, or apt doesn't know the packages.
 */
export async function unpackDebianPackages(toolsDirectory: string, tree: PackageTree): Promise<string> {
  const root = join(toolsDirectory, tree.name);
  if (existsSync(root)) return root;
  if (!(await canUnpack(toolsDirectory, tree.name))) {
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

/** Whether such a tree exists, or this machine can create it. */
export async function canUnpack(toolsDirectory: string, name: string): Promise<boolean> {
  if (existsSync(join(toolsDirectory, name))) return true;
  return (await succeeds('apt-get', ['--version'])) && (await succeeds('dpkg-deb', ['--version']));
}

/** The library path for programs of an unpacked tree: its libraries before the machine's. */
export async function libraryPath(root: string): Promise<string> {
  const directories: string[] = [];
  for (const parent of [join(root, 'usr', 'lib'), join(root, 'lib')]) {
    const names = await readdir(parent).catch(() => []);
    directories.push(...names.filter((name) => name.includes('-linux-')).map((name) => join(parent, name)));
  }
  return directories.join(':');
}

/** Uses the machine's package lists; when those are missing or out of date, downloads new ones. */
async function download(work: string, tree: PackageTree): Promise<void> {
  try {
    if (tree.release === undefined) {
      await downloadWith([], work, tree);
      return;
    }
  } catch {
    // The machine's lists were never downloaded, or name a version that the server no longer has.
  }
  try {
    const lists = [...(await privateLists(work)), ...(await sourcesOf(work, tree.release))];
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

async function downloadWith(options: string[], work: string, tree: PackageTree): Promise<void> {
  const wanted = new Set([...tree.packages, ...(await missingLibraries(options, tree))]);
  // As root, apt would switch to its own user, who can't write here.
  await run('apt-get', [...options, '-o', 'APT::Sandbox::User=root', 'download', ...wanted], {
    cwd: work,
    maxBuffer,
  });
}

async function missingLibraries(
  options: string[],
  { packages, libraries, release }: PackageTree,
): Promise<Set<string>> {
  const reach = libraries === 'all' ? ['--recurse'] : [];
  const known = await run('apt-cache', [...options, 'depends', ...reach, '--no-recommends', ...packages], {
    maxBuffer,
  });
  const needs = librariesByPackage(known.stdout);
  // Libraries of another release don't fit this one's.
  const installed = release === undefined ? await installedPackages() : new Set<string>();
  const missing = new Set<string>();
  const waiting = [...packages];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const library of needs.get(name) ?? []) {
      if (isModule(library) || installed.has(library) || missing.has(library)) continue;
      missing.add(library);
      waiting.push(library);
    }
  }
  return missing;
}

/** `apt-cache depends` writes a package without indentation, and its dependencies indented below it. */
function librariesByPackage(listing: string): Map<string, string[]> {
  const needs = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of listing.split('\n')) {
    if (/^[a-z0-9]/.test(line)) needs.set(line, (current = needs.get(line) ?? []));
    const library = /^ +Depends: (lib[a-z0-9.+-]+)$/.exec(line)?.[1];
    if (library !== undefined) current.push(library);
  }
  return needs;
}

/** Plug-ins of nginx are also named lib…, and would add their own libraries. */
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

/**
 * Configures apt for another release, with nothing of it installed. The machine's Debian keyring must have its keys.
 */
async function sourcesOf(work: string, release: string | undefined): Promise<string[]> {
  if (release === undefined) return [];
  const sources = join(work, 'apt', 'sources.list');
  const status = join(work, 'apt', 'status');
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  await writeFile(sources, `deb [signed-by=${keyring}] http://deb.debian.org/debian ${release} main\n`);
  await writeFile(status, '');
  return [
    ...['-o', `Dir::Etc::sourcelist=${sources}`, '-o', 'Dir::Etc::sourceparts=-'],
    ...['-o', `Dir::State::status=${status}`, '-o', 'Acquire::Languages=none'],
  ];
}

async function succeeds(command: string, args: string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  );
}
