import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildAll, pack, publishedFolders } from '../../infra/release/packages.ts';
import { repositoryRoot } from '../../infra/release/places.ts';

const run = promisify(execFile);
type Exports = Record<string, { import?: unknown; require?: unknown }>;
type Manifest = Record<string, unknown> & { name: string; exports: Exports };

const read = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as Manifest;
const { packageManager } = await read(join(repositoryRoot, 'package.json'));
const pnpm = String(packageManager).split('+')[0]!;

const isPlugin = (folder: string): boolean => folder.startsWith('packages/integrations/');

let root: string;
let built: Awaited<ReturnType<typeof buildAll>>;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), `quittance-test-${process.pid}-packages-`));
  built = await buildAll(join(root, 'built'));
}, 600_000);
afterAll(() => rm(root, { recursive: true, force: true }));

/** Unpacks it. @returns its files with their bytes. */
async function contents(tarball: string, name: string): Promise<Record<string, string>> {
  const folder = join(root, name);
  await mkdir(folder, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', folder]);
  // Unlike a glob, this finds hidden folders.
  const entries = await readdir(join(folder, 'package'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).toSorted();
  return Object.fromEntries(
    await Promise.all(
      paths.map(async (path) => [path.slice(join(folder, 'package/').length), await readFile(path, 'base64')] as const),
    ),
  );
}

describe.each(publishedFolders())('the package of %s', (folder) => {
  const one = () => built.find((each) => each.folder === folder)!;
  const scratch = (name: string): string => join(root, name, folder.replaceAll('/', '-'));

  /** What pnpm packs in a directory. */
  async function packedByPnpm(directory: string, name: string): Promise<Record<string, string>> {
    const target = scratch(name);
    const words = ['-y', pnpm, 'pack', '--config.ignore-scripts=true', '--json', '--pack-destination', target];
    const { stdout } = await run('npx', words, { cwd: directory });
    return contents((JSON.parse(stdout) as { filename: string }).filename, join(name, 'unpacked', folder));
  }

  test('has the same files from npm publish, npm pack and pnpm pack', async () => {
    const { directory, manifest } = one();
    const byPnpm = await packedByPnpm(directory, 'pnpm');
    await mkdir(scratch('npm'), { recursive: true });
    const byNpm = await contents((await pack(directory, scratch('npm'))).file, join('npm', 'unpacked', folder));
    expect(Object.keys(byNpm)).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']));
    expect(byNpm).toEqual({ ...byPnpm, 'package.json': byNpm['package.json'] });
    expect([byNpm, byPnpm].map(manifestIn)).toEqual([manifest, manifest]);
    // It asks no registry, and warns when it would publish another package.json than this one.
    const { stdout, stderr } = await run('npm', ['publish', '--dry-run', '--json'], { cwd: directory });
    type Published = Record<string, { files: { path: string; size: number }[] }>;
    const { files } = (JSON.parse(stdout) as Published)[manifest.name]!;
    const sizes = Object.entries(byNpm).map(([path, bytes]) => ({ path, size: Buffer.from(bytes, 'base64').length }));
    expect(files.map(({ path, size }) => ({ path, size })).toSorted(byPath)).toEqual(sizes.toSorted(byPath));
    expect(stderr).not.toContain('auto-corrected');
  });

  test('has the package.json that pnpm writes for the one in the repository', async () => {
    const packed = manifestIn(await packedByPnpm(join(repositoryRoot, folder), 'sources'));
    const { devDependencies: _ours, scripts: _scripts, ...rest } = packed;
    expect(one().manifest).toEqual(rest);
  });

  test('is refused where its exports are sources', async () => {
    const packing = run('npm', ['publish', '--dry-run'], { cwd: join(repositoryRoot, folder) });
    await expect(packing).rejects.toThrow('npm run sdk');
  });

  // What loads a framework of a shop is installed there by tests/integrations.
  const testAlone = isPlugin(folder) ? test.skip : test;
  testAlone('installs, loads by import and require, and has types for both', async () => {
    const shop = scratch('shop');
    await mkdir(shop, { recursive: true });
    await writeFile(join(shop, 'package.json'), '{ "name": "shop", "private": true }');
    const alone = built.filter((each) => !isPlugin(each.folder));
    const tarballs = await Promise.all(alone.map(async ({ directory }) => (await pack(directory, shop)).file));
    const words = ['install', '--prefer-offline', '--no-audit', '--no-fund', ...tarballs];
    await run('npm', words, { cwd: shop });
    const { name, exports } = one().manifest as unknown as Manifest;
    const programs = Object.entries(exports).flatMap(([subpath, { import: esm, require: cjs }], number) => {
      const specifier = join(name, subpath);
      const typed = `import * as all from '${specifier}';\nexport const names: readonly (keyof typeof all)[] = [];\n`;
      const loaded = `console.log(Object.keys(all).filter((name) => name !== 'default' && name !== 'module.exports').length > 0);\n`;
      const found: [string, string, string][] = [];
      if (esm !== undefined) found.push([`${number}.mts`, typed, `import * as all from '${specifier}';\n${loaded}`]);
      if (cjs !== undefined) found.push([`${number}.cts`, typed, `const all = require('${specifier}');\n${loaded}`]);
      return found;
    });
    expect(programs.length).toBeGreaterThan(0);
    for (const [file, typed, loaded] of programs) {
      await writeFile(join(shop, file), typed);
      const script = file.replace('.mts', '.mjs').replace('.cts', '.cjs');
      await writeFile(join(shop, script), loaded);
      const { stdout } = await run(process.execPath, [script], { cwd: shop });
      expect([script, stdout.trim()]).toEqual([script, 'true']);
    }
    const options = { module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom'], types: ['node'], strict: true };
    const typeRoots = [join(repositoryRoot, 'node_modules/@types')];
    const config = { compilerOptions: { ...options, typeRoots, noEmit: true }, files: programs.map(([file]) => file) };
    await writeFile(join(shop, 'tsconfig.json'), JSON.stringify(config));
    const compiler = join(repositoryRoot, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [compiler], { cwd: shop }).catch((error: unknown) => {
      throw new Error((error as { stdout: string }).stdout, { cause: error });
    });
  });
});

const manifestIn = (files: Record<string, string>): Manifest =>
  JSON.parse(Buffer.from(files['package.json'] ?? '', 'base64').toString()) as Manifest;

const byPath = ({ path: one }: { path: string }, { path: other }: { path: string }): number => (one < other ? -1 : 1);
