import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build as buildSdk } from '../sdk/build.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

/** Where each package's compiled files go: Medusa looks for those of a plugin in one place. */
const outputs = { medusa: '.medusa/server/src', vendure: 'dist' } as const;

export type Integration = keyof typeof outputs;

/**
 * Compiles an integration as it is published, and packs it and the SDK.
 * @param folder is emptied first.
 * @returns the paths of the packed files: the SDK's, and the integration's.
 */
export async function pack(integration: Integration, folder: string): Promise<string[]> {
  const sources = join(import.meta.dirname, integration);
  const [sdk, built] = [join(folder, 'sdk'), join(folder, integration)];
  await rm(folder, { recursive: true, force: true });
  await buildSdk(sdk);
  const out = join(built, outputs[integration]);
  await mkdir(out, { recursive: true });
  const project = join(folder, 'tsconfig.json');
  await writeFile(project, JSON.stringify(projectOf(sources, out, sdk)));
  await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project]).catch(
    (error: unknown) => {
      throw new Error(`${integration} does not compile:\n${(error as { stdout: string }).stdout}`, { cause: error });
    },
  );
  await copyScripts(join(sources, 'src'), out);
  await writeFile(join(built, 'package.json'), `${JSON.stringify(await published(sources), null, 2)}\n`);
  for (const [from, name] of [
    [sources, 'README.md'],
    [root, 'LICENSE'],
  ] as const)
    await cp(join(from, name), join(built, name));
  return Promise.all([sdk, built].map((directory) => packed(directory, folder)));
}

/** The sources compiled for `require`, as both frameworks load their plugins, with the SDK as it is published. */
const projectOf = (sources: string, outDir: string, sdk: string) => ({
  compilerOptions: {
    target: 'es2022',
    lib: ['es2022', 'dom'],
    module: 'commonjs',
    moduleResolution: 'bundler',
    esModuleInterop: true,
    // Vendure and NestJS describe classes with them.
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    rewriteRelativeImportExtensions: true,
    declaration: true,
    strict: true,
    skipLibCheck: true,
    noUncheckedIndexedAccess: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')],
    rootDir: join(sources, 'src'),
    outDir,
    paths: { '@quittance/sdk': [join(sdk, 'dist', 'cjs', 'index.d.ts')] },
  },
  include: [join(sources, 'src')],
});

/** What a bundler of the shop reads is not compiled. */
async function copyScripts(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { recursive: true })) {
    if (entry.endsWith('.mjs')) await cp(join(from, entry), join(to, entry));
  }
}

/** Its package.json, whose `publishConfig` says how the published one differs. */
async function published(sources: string): Promise<object> {
  const read = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  const {
    devDependencies: _ours,
    scripts: _scripts,
    publishConfig,
    ...rest
  } = await read(join(sources, 'package.json'));
  const { version } = await read(join(import.meta.dirname, '..', 'sdk', 'package.json'));
  return { ...rest, dependencies: { '@quittance/sdk': version }, ...(publishConfig as object) };
}

async function packed(directory: string, folder: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: directory });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return join(folder, filename);
}

if (import.meta.main) {
  for (const integration of Object.keys(outputs) as Integration[]) {
    const files = await pack(integration, join(root, '.local', 'packed', integration));
    process.stdout.write(files.map((file) => `${file}\n`).join(''));
  }
}
