import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from './places.ts';

// Each package that is not private is published from a folder of its own, where npm and pnpm pack the same: compiled files, and a
// package.json with publishConfig applied. The package.json in the repository lets the workspace load sources, so it cannot be published.

/** How TypeScript becomes one folder of a published package. */
type Format = {
  type: 'module' | 'commonjs';
  project?: string;
  options?: object;
  /** The project of a program that is compiled into the same folder. */
  program?: string;
};

const esm: Format = { type: 'module', options: { module: 'nodenext' } };
const cjs: Format = { type: 'commonjs', options: { module: 'commonjs', moduleResolution: 'bundler' } };

/** What is compiled into which folder, by the folder of the package: a line for each, after the packages that it needs. */
const outputs: Readonly<Record<string, Readonly<Record<string, Format>>>> = {
  // The rehearsal and the verifier are programs for Node, in addition to the library, which runs everywhere. The verifier uses its files.
  'packages/sdk': {
    'dist/esm': { ...esm, program: 'src/verify' },
    'dist/cjs': cjs,
    'dist/rehearse': { type: 'module', project: 'src/rehearse' },
  },
  'packages/mcp': { dist: esm },
  // Medusa looks for the files of a plugin in this folder.
  'packages/integrations/medusa': { '.medusa/server/src': cjs },
  'packages/integrations/vendure': { dist: cjs },
};

type Manifest = {
  name: string;
  version: string;
  files: string[];
  exports: Record<string, Record<string, { types: string; default: string }>>;
};
type Built = { folder: string; directory: string; manifest: Manifest };

const run = promisify(execFile);

/** The folders of the packages that a release publishes: those whose package.json is not private. @throws when one has no line above. */
export function publishedFolders(): string[] {
  const manifests = globSync('packages/{*,integrations/*}/package.json', { cwd: repositoryRoot });
  const found = manifests
    .filter((file) => !('private' in (JSON.parse(readFileSync(join(repositoryRoot, file), 'utf8')) as object)))
    .map((file) => dirname(file));
  const folders = Object.keys(outputs);
  const missing = [
    ...found.filter((folder) => !(folder in outputs)),
    ...folders.filter((each) => !found.includes(each)),
  ];
  if (missing.length > 0)
    throw new Error(`these public packages differ from those of packages.ts: ${missing.join(', ')}`);
  return folders;
}

/**
 * Builds each published package in a folder of its own, as npm and pnpm pack it.
 * @param folder gets a subfolder for each, which is emptied first.
 */
export async function buildAll(folder: string): Promise<Built[]> {
  const built: Built[] = [];
  for (const published of publishedFolders()) built.push(await build(published, folder, built));
  return built;
}

/** Builds all published packages, and packs each into the folder. */
export async function packAll(folder: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'quittance-packages-'));
  try {
    for (const { directory } of await buildAll(work)) await pack(directory, folder);
  } finally {
    await rm(work, { recursive: true });
  }
}

/** @returns the path of the packed file, with its sizes in bytes. */
export async function pack(directory: string, folder: string) {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: directory });
  const [{ filename, size, unpackedSize }] = JSON.parse(stdout) as [
    { filename: string; size: number; unpackedSize: number },
  ];
  return { file: join(folder, filename), size, unpackedSize };
}

async function build(published: string, folder: string, before: readonly Built[]): Promise<Built> {
  const sources = join(repositoryRoot, published);
  const manifest = await publishedManifest(published);
  const directory = join(folder, manifest.name.replace('@quittance/', ''));
  await rm(directory, { recursive: true, force: true });
  const formats = Object.entries(outputs[published] ?? {});
  await Promise.all(
    formats.map(async ([out, { program, ...format }]) => {
      await compile(sources, join(directory, out), format, before);
      if (program !== undefined)
        await compile(sources, join(directory, out), { type: format.type, project: program }, before);
    }),
  );
  await writeFile(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await cp(join(repositoryRoot, 'LICENSE'), join(directory, 'LICENSE'));
  const isCompiled = (file: string): boolean => formats.some(([out]) => out === file || out.startsWith(`${file}/`));
  for (const file of manifest.files.filter((each) => !isCompiled(each)))
    await cp(join(sources, file), join(directory, file), { recursive: true });
  return { folder: published, directory, manifest };
}

/** Compiles by the tsconfig.json of the package, with the types of other published packages as they are published. */
async function compile(sources: string, out: string, format: Format, before: readonly Built[]): Promise<void> {
  await mkdir(out, { recursive: true });
  const project = `${out}.tsconfig.json`;
  const paths = Object.fromEntries(before.flatMap((built) => typesOf(built, format.type)));
  const compilerOptions = { typeRoots: [join(repositoryRoot, 'node_modules/@types')], outDir: out, paths };
  const config = {
    extends: join(sources, format.project ?? '.', 'tsconfig.json'),
    compilerOptions: { ...compilerOptions, ...format.options },
  };
  await writeFile(project, JSON.stringify(config));
  const compiler = join(repositoryRoot, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '-p', project]).catch((error: unknown) => {
    throw new Error(`${sources} does not compile: ${(error as { stdout: string }).stdout}`, { cause: error });
  });
  await rm(project);
  // Node reads files by the nearest package.json.
  await writeFile(join(out, 'package.json'), `${JSON.stringify({ type: format.type })}\n`);
}

/** Where TypeScript finds what a built package exports, by the specifier. */
const typesOf = ({ directory, manifest }: Built, type: Format['type']): [string, string[]][] =>
  Object.entries(manifest.exports).flatMap(([subpath, conditions]) => {
    const types = conditions[type === 'module' ? 'import' : 'require']?.types;
    return types === undefined ? [] : [[join(manifest.name, subpath), [join(directory, types)]]];
  });

/**
 * What npm publishes as package.json: with publishConfig applied and without what only this repository uses. All packages of the workspace
 * have the release's version. GitHub's workflow knows the repository, which npm compares with its provenance; a package that is built
 * elsewhere names none.
 */
async function publishedManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(repositoryRoot, folder, 'package.json'), 'utf8');
  const {
    devDependencies: _ours,
    scripts: _scripts,
    publishConfig,
    ...rest
  } = JSON.parse(text) as Record<string, object>;
  const { GITHUB_REPOSITORY: repository } = process.env;
  const url = `git+https://github.com/${repository}.git`;
  const named = repository === undefined ? {} : { repository: { type: 'git', url, directory: folder } };
  const written = JSON.stringify({ ...rest, ...publishConfig, ...named });
  return JSON.parse(written.replaceAll('"workspace:*"', JSON.stringify(rest['version']))) as Manifest;
}

if (import.meta.main) {
  const folder = join(repositoryRoot, '.local', 'packages');
  for (const { directory } of await buildAll(folder)) {
    const { file, size, unpackedSize } = await pack(directory, folder);
    process.stdout.write(`${file}: ${size} bytes, unpacked ${unpackedSize}\n`);
  }
}
