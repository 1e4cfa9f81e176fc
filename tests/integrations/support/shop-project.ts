import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildAll, pack } from '../../../infra/release/packages.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { ownEnvironment } from '../../support/journey-stack.ts';

const run = promisify(execFile);

export type Integration = 'medusa' | 'vendure';

export type ShopProject = {
  directory: string;
  /** Runs a program of the project, and returns what it wrote. @throws Error with what it wrote. */
  run(words: string[], env?: NodeJS.ProcessEnv): Promise<string>;
};

/**
 * A shop's own project, as a developer has it: the framework from the registry, and our packages as they are published. It is kept in
 * `.local`, because installing the framework takes minutes.
 * @param prepare runs again only after a change of our packages or of the project.
 */
export async function shopProject(
  integration: Integration,
  prepare: (project: ShopProject) => Promise<void> = async () => undefined,
): Promise<ShopProject> {
  const directory = join(repositoryRoot, '.local', 'integrations', integration);
  const template = join(import.meta.dirname, '..', `${integration}-shop`);
  const project: ShopProject = {
    directory,
    run: async (words, env = {}) => {
      const options = { cwd: directory, env: { ...ownEnvironment(), ...env }, maxBuffer: 50_000_000 };
      const { stdout, stderr } = await run(process.execPath, words, options).catch((error: unknown) => {
        const { stdout: out, stderr: problems } = error as { stdout: string; stderr: string };
        throw new Error(`${words.join(' ')} failed:\n${problems.slice(-5_000)}\n${out.slice(-5_000)}`, {
          cause: error,
        });
      });
      return stdout + stderr;
    },
  };
  const npm = (words: string[]) =>
    run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...words], { cwd: directory });
  const described = await readFile(join(template, 'package.json'));
  await once(`${directory}.installed`, hashOf([described]), async () => {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true });
    await cp(join(template, 'package.json'), join(directory, 'package.json'));
    await npm([]);
  });
  const packed = await packedFor(integration, `${directory}.packed`);
  const contents = await Promise.all([...packed, join(template, configOf[integration])].map((file) => readFile(file)));
  await once(`${directory}.prepared`, hashOf([described, ...contents]), async () => {
    await cp(template, directory, { recursive: true });
    await rm(join(directory, 'node_modules', '@quittance'), { recursive: true, force: true });
    await npm(['--no-save', ...packed]);
    await checkTypes(integration, project);
    await prepare(project);
  });
  return project;
}

/** What the shop installs: the plugin, and the SDK that it needs. */
async function packedFor(integration: Integration, folder: string): Promise<string[]> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const wanted = ['packages/sdk', `packages/integrations/${integration}`];
  const built = (await buildAll(join(folder, 'built'))).filter((each) => wanted.includes(each.folder));
  return Promise.all(built.map(async ({ directory }) => (await pack(directory, folder)).file));
}

const configOf: Record<Integration, string> = { medusa: 'medusa-config.ts', vendure: 'vendure-config.js' };

/** Compiles our sources with the framework itself: in this repository, they are compiled with a description of it. */
async function checkTypes(integration: Integration, { directory, run: runIn }: ShopProject): Promise<void> {
  const sources = join(repositoryRoot, 'packages', 'integrations', integration, 'src');
  const check = join(directory, 'quittance-types');
  await rm(check, { recursive: true, force: true });
  await cp(sources, check, { recursive: true, filter: (file) => !file.endsWith('framework.d.ts') });
  const compilerOptions = {
    ...{ target: 'es2022', lib: ['es2022', 'dom'], module: 'nodenext', types: ['node'], skipLibCheck: true },
    ...{ strict: true, noEmit: true, allowImportingTsExtensions: true, noUncheckedIndexedAccess: true },
    ...{ experimentalDecorators: true, emitDecoratorMetadata: true },
  };
  await writeFile(join(check, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['.'] }));
  await runIn([join('node_modules', 'typescript', 'bin', 'tsc'), '-p', check]);
  // It is not the shop's own code.
  await rm(check, { recursive: true });
}

async function once(stamp: string, wanted: string, work: () => Promise<void>): Promise<void> {
  const done = await readFile(stamp, 'utf8').catch(() => null);
  if (done === wanted) return;
  await rm(stamp, { force: true });
  await work();
  await mkdir(dirname(stamp), { recursive: true });
  await writeFile(stamp, wanted);
}

const hashOf = (contents: Buffer[]): string => {
  const hash = createHash('sha256');
  for (const content of contents) hash.update(content);
  return hash.digest('hex');
};
