import { existsSync } from 'node:fs';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { useOwnLibraries } from './another-release.ts';
import { libraryPath, unpackDebianPackages } from './debian-packages.ts';

export type RabbitmqPrograms = { server: string; control: string; epmd: string; env: NodeJS.ProcessEnv };

/** The parts of Erlang that the broker needs. Debian splits it into small packages. */
const packages = [
  ...[
    'rabbitmq-server',
    'erlang-base',
    'erlang-asn1',
    'erlang-crypto',
    'erlang-eldap',
    'erlang-inets',
    'erlang-mnesia',
  ],
  ...['erlang-os-mon', 'erlang-parsetools', 'erlang-public-key', 'erlang-runtime-tools', 'erlang-ssl'],
  ...['erlang-syntax-tools', 'erlang-tools', 'erlang-xmerl'],
];

const usedPlugins = new Set([
  'rabbitmq_prelaunch',
  'rabbitmq_management',
  'rabbitmq_management_agent',
  'rabbitmq_web_dispatch',
]);

/** Debian's own commands on PATH run only as root or the user rabbitmq. The scripts behind them run as any user. */
const installedScripts = [
  '/usr/lib/rabbitmq/bin',
  '/opt/homebrew/opt/rabbitmq/sbin',
  '/usr/local/opt/rabbitmq/sbin',
  '/usr/local/sbin',
];

/** The Debian release with RabbitMQ 4. Its programs can also run on other releases. */
const releaseOfRabbitmq4 = 'trixie';

/**
 * The machine's RabbitMQ, else Debian's packages unpacked below `toolsDirectory`. With RABBITMQ_GENERATION=4 always
 * that of Debian 13, because the machine's may be 3.10.
 * @throws Error that says what to install when there is neither, or that the generation doesn't exist.
 */
export async function rabbitmqPrograms(toolsDirectory: string): Promise<RabbitmqPrograms> {
  const generation = process.env['RABBITMQ_GENERATION'] ?? '';
  if (generation === '4') return await unpackedRabbitmq4(toolsDirectory);
  if (generation !== '')
    throw new Error(`RABBITMQ_GENERATION may be 4, or empty for the machine's own, not "${generation}"`);
  const installed = installedRabbitmq();
  if (installed !== undefined) return installed;
  const root = await unpackDebianPackages(toolsDirectory, { name: 'rabbitmq-server', packages, adapt: adaptTree });
  const unpacked = unpackedPrograms(root);
  const libraries = await libraryPath(root);
  return libraries ? { ...unpacked, env: { ...unpacked.env, LD_LIBRARY_PATH: libraries } } : unpacked;
}

/** The machine's RabbitMQ, if it has one. */
export function installedRabbitmq(): RabbitmqPrograms | undefined {
  const scripts = installedScripts.find((directory) => existsSync(join(directory, 'rabbitmq-server')));
  const epmd = findOnPath('epmd');
  return scripts && epmd ? programs(scripts, epmd, process.env.PATH ?? '') : undefined;
}

/** Downloads 43 MB from Debian. The tree contains the C library that its programs need. */
async function unpackedRabbitmq4(toolsDirectory: string): Promise<RabbitmqPrograms> {
  const root = await unpackDebianPackages(toolsDirectory, {
    name: 'rabbitmq-server-4',
    release: releaseOfRabbitmq4,
    packages,
    libraries: 'all',
    adapt: async (tree) => {
      await adaptTree(tree);
      await useOwnLibraries(tree, 'usr/lib/erlang');
    },
  });
  return unpackedPrograms(root);
}

/** @throws Error for a path from which they can't run. */
function unpackedPrograms(root: string): RabbitmqPrograms {
  // The broker's own shell scripts do not quote their paths.
  if (/\s/.test(root))
    throw new Error(`RabbitMQ cannot run from a path with a space in it: ${root}. Move the checkout, or set AMQP_URL.`);
  const erlang = join(root, 'usr/lib/erlang/bin');
  const path = `${erlang}${delimiter}${process.env.PATH}`;
  return programs(join(root, 'usr/lib/rabbitmq/bin'), join(erlang, 'epmd'), path);
}

function programs(scripts: string, epmd: string, path: string): RabbitmqPrograms {
  return { server: join(scripts, 'rabbitmq-server'), control: join(scripts, 'rabbitmqctl'), epmd, env: { PATH: path } };
}

async function adaptTree(root: string): Promise<void> {
  await makeErlangRelocatable(root);
  await removeUnusedPlugins(root);
}

/**
 * Erlang searches every plugin's folder for every module that it loads. Without unused plugins the broker starts a
 * third faster.
 */
async function removeUnusedPlugins(root: string): Promise<void> {
  const library = join(root, 'usr/lib/rabbitmq/lib');
  for (const version of await readdir(library)) {
    const plugins = join(library, version, 'plugins');
    for (const name of await readdir(plugins)) {
      const plugin = /^(rabbitmq_\w+)-/.exec(name)?.[1];
      if (plugin && !usedPlugins.has(plugin)) await rm(join(plugins, name), { recursive: true });
    }
  }
}

/** Debian writes Erlang's install path into its start script. This makes the script use its own location instead. */
async function makeErlangRelocatable(root: string): Promise<void> {
  const script = join(root, 'usr/lib/erlang/bin/erl');
  const text = await readFile(script, 'utf8');
  await writeFile(
    script,
    text.replaceAll('ROOTDIR=/usr/lib/erlang', 'ROOTDIR="$(dirname "$(dirname "$(readlink -f "$0")")")"'),
  );
}

function findOnPath(name: string): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return directories
    .map((directory) => join(directory, name))
    .find((file) => existsSync(file) && dirname(file) !== '.');
}
