import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build as buildSdk } from '../sdk/build.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

/** Where each package's compiled files go: Medusa looks for those of a plugin in one place. */
const outputs = { medusa: '.medusa/server/src', vendure: 'dist' } as const;

export type Integration = keyof typeof outputs;

/** Compiles an integration into a folder as it is published. */
export async function buildIntegration(integration: Integration, folder: string): Promise<void> {
  const sources = join(import.meta.dirname, integration);
  const work = await mkdtemp(join(tmpdir(), 'quittance-integration-'));
  try {
    const sdk = join(work, 'sdk');
    await buildSdk(sdk);
    const out = join(folder, outputs[integration]);
    await mkdir(out, { recursive: true });
    const project = join(work, 'tsconfig.json');
    await writeFile(project, JSON.stringify(projectOf(sources, out, sdk)));
    await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project]).catch(
      (error: unknown) => {
        throw new Error(`${integration} does not compile:\n${(error as { stdout: string }).stdout}`, { cause: error });
      },
    );
    await copyScripts(join(sources, 'src'), out);
  } finally {
    await rm(work, { recursive: true });
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await published(sources), null, 2)}\n`);
  await cp(join(sources, 'README.md'), join(folder, 'README.md'));
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

/**
 * Builds and packs the SDK and an integration, as a shop installs them.
 * @param folder is emptied first.
 * @returns the paths of both packed files.
 */
export async function pack(integration: Integration, folder: string): Promise<string[]> {
  await rm(folder, { recursive: true, force: true });
  const [sdk, built] = [join(folder, 'sdk'), join(folder, integration)];
  await buildSdk(sdk);
  await buildIntegration(integration, built);
  return Promise.all([sdk, built].map((directory) => packed(directory, folder)));
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
