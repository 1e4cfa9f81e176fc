import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { libraryPath, unpackDebianPackages } from './debian-packages.ts';

/**
 * A program that runs programs in another language: its command with first arguments, and the environment variables
 * that it needs in addition to the usual ones.
 */
export type Interpreter = { command: string; args: string[]; env: Record<string, string> };

/** Why this machine can't have such an interpreter; null when it can. */
export const whyNoPython = (): string | null =>
  succeeds('python3', ['-c', 'import sqlite3, sys; sys.exit(sys.version_info < (3, 9))'])
    ? null
    : 'no Python 3.9 with sqlite3';
export const whyNoPhp = (): string | null =>
  machineHasPhp() || isDebian12() ? null : 'neither PHP 8.1 with pdo_sqlite nor Debian 12';
export const whyNoGo = (): string | null => (machineHasGo() || isDebian12() ? null : 'neither Go 1.19 nor Debian 12');

/** The machine's PHP if it has SQLite, else Debian's, unpacked below `toolsDirectory` (3 MB). It reads no configuration. */
export async function findPhp(toolsDirectory: string): Promise<Interpreter> {
  if (machineHasPhp()) return { command: 'php', args: [], env: {} };
  const root = await unpackDebianPackages(toolsDirectory, {
    name: 'php',
    packages: ['php8.2-cli', 'php8.2-common', 'php8.2-sqlite3'],
    libraries: 'all',
  });
  const extensions = join(root, 'usr', 'lib', 'php');
  const [version = ''] = readdirSync(extensions).filter((name) => /^[0-9]{8}$/.test(name));
  const settings = [`extension_dir=${join(extensions, version)}`, 'extension=pdo', 'extension=pdo_sqlite'];
  return {
    command: join(root, 'usr', 'bin', 'php8.2'),
    args: ['-n', ...settings.flatMap((setting) => ['-d', setting])],
    env: { LD_LIBRARY_PATH: await libraryPath(root) },
  };
}

/**
 * The machine's Go, else Debian's, unpacked below `toolsDirectory` (81 MB). Its build cache is kept there too. It
 * downloads nothing and needs no C compiler.
 */
export async function findGo(toolsDirectory: string): Promise<Interpreter> {
  const env = {
    ...{ GOCACHE: join(toolsDirectory, 'go-cache'), GOPATH: join(toolsDirectory, 'go-path'), GOENV: 'off' },
    ...{ GOPROXY: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '', CGO_ENABLED: '0' },
  };
  if (machineHasGo()) return { command: 'go', args: [], env };
  const packages = ['golang-1.19-go', 'golang-1.19-src'];
  const root = await unpackDebianPackages(toolsDirectory, { name: 'go', packages });
  const GOROOT = join(root, 'usr', 'lib', 'go-1.19');
  return { command: join(GOROOT, 'bin', 'go'), args: [], env: { ...env, GOROOT } };
}

const machineHasPhp = (): boolean =>
  succeeds('php', ['-r', 'exit(PHP_VERSION_ID >= 80100 && extension_loaded("pdo_sqlite") ? 0 : 1);']);

function machineHasGo(): boolean {
  const { error, stdout } = spawnSync('go', ['version'], { encoding: 'utf8' });
  const minor = error === undefined ? /\bgo1\.([0-9]+)/.exec(stdout)?.[1] : undefined;
  return Number(minor ?? 0) >= 19;
}

/** Whether the machine is Debian 12, where the packages have these names. */
function isDebian12(): boolean {
  const file = '/etc/os-release';
  const release = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return /^ID=debian$/m.test(release) && /^VERSION_ID="12"$/m.test(release);
}

const succeeds = (command: string, args: string[]): boolean => spawnSync(command, args).status === 0;
