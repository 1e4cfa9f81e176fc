import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { libraryPath, unpackDebianPackages } from './debian-packages.ts';

/** A program that runs those of another language: its first words, and what it needs in its environment beside the usual. */
export type Interpreter = { command: string; args: string[]; env: Record<string, string> };

/** Why this machine can have no such interpreter, or null when it can. */
export const whyNoPhp = (): string | null =>
  machinePhp() || isDebian12() ? null : 'neither PHP with pdo_sqlite nor Debian 12';
export const whyNoGo = (): string | null => (machineGo() || isDebian12() ? null : 'neither Go nor Debian 12');
export const whyNoPython = (): string | null => (canRun('python3', ['--version']) ? null : 'no python3');

/** The machine's PHP if it has SQLite, else Debian's, unpacked below `toolsDirectory` (3 MB). It reads no configuration. */
export async function findPhp(toolsDirectory: string): Promise<Interpreter> {
  if (machinePhp()) return { command: 'php', args: [], env: {} };
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
 * The machine's Go, else Debian's, unpacked below `toolsDirectory` (81 MB). What it has compiled is kept there too; it downloads nothing,
 * and needs no C compiler.
 */
export async function findGo(toolsDirectory: string): Promise<Interpreter> {
  const env = {
    ...{ GOCACHE: join(toolsDirectory, 'go-cache'), GOPATH: join(toolsDirectory, 'go-path'), GOENV: 'off' },
    ...{ GOPROXY: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '', CGO_ENABLED: '0' },
  };
  if (machineGo()) return { command: 'go', args: [], env };
  const packages = ['golang-1.19-go', 'golang-1.19-src'];
  const root = await unpackDebianPackages(toolsDirectory, { name: 'go', packages });
  const GOROOT = join(root, 'usr', 'lib', 'go-1.19');
  return { command: join(GOROOT, 'bin', 'go'), args: [], env: { ...env, GOROOT } };
}

const machinePhp = (): boolean => /^pdo_sqlite$/m.test(outputOf('php', ['-m']));
const machineGo = (): boolean => canRun('go', ['version']);

/** Whose packages have these names. */
function isDebian12(): boolean {
  const file = '/etc/os-release';
  return (
    existsSync(file) &&
    /^VERSION_ID="12"$/m.test(readFileSync(file, 'utf8')) &&
    /^ID=debian$/m.test(readFileSync(file, 'utf8'))
  );
}

const canRun = (command: string, args: string[]): boolean => spawnSync(command, args).status === 0;

/** Nothing where there is no such command. */
function outputOf(command: string, args: string[]): string {
  const { error, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return error === undefined ? stdout : '';
}
