import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

/** The types of docs/openapi.yaml, the content of `src/openapi.ts`. */
export async function openapiTypes(): Promise<string> {
  const nodes = await openapiTS(new URL('../../docs/openapi.yaml', import.meta.url), {
    alphabetize: true,
    // The server applies defaults, so callers may leave these fields out.
    defaultNonNullable: false,
  });
  return `/** Made from docs/openapi.yaml by \`npm run sdk\`. */\n\n${astToString(nodes)}`;
}

/**
 * Compiles the library into a folder as it is published: for `import` and for `require`, with declarations.
 * @param folder is emptied first.
 */
export async function build(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const library = import.meta.dirname;
  const formats = [
    { name: 'esm', type: 'module', project: library, words: ['--module', 'nodenext'] },
    {
      name: 'cjs',
      type: 'commonjs',
      project: library,
      words: ['--module', 'commonjs', '--moduleResolution', 'bundler'],
    },
    // A program for Node, in addition to the library, which runs everywhere.
    { name: 'rehearse', type: 'module', project: join(library, 'src', 'rehearse'), words: [] },
  ];
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await Promise.all(
    formats.map(async ({ name, type, project, words }) => {
      const out = join(folder, 'dist', name);
      await mkdir(out, { recursive: true });
      await run(process.execPath, [compiler, '-p', project, '--outDir', out, ...words]);
      await writeFile(join(out, 'package.json'), `${JSON.stringify({ type })}\n`);
    }),
  );
  const described = JSON.parse(await readFile(join(import.meta.dirname, 'package.json'), 'utf8')) as object;
  // This repository loads it from its sources, and its scripts keep them from being published.
  const {
    devDependencies: _ours,
    scripts: _scripts,
    publishConfig,
    ...rest
  } = described as { devDependencies: object; scripts: object; publishConfig: object };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify({ ...rest, ...publishConfig }, null, 2)}\n`);
  for (const file of ['README.md'])
    await writeFile(join(folder, file), await readFile(join(import.meta.dirname, file)));
}

if (import.meta.main) {
  const [typesFile, types] = [join(import.meta.dirname, 'src', 'openapi.ts'), await openapiTypes()];
  // An up-to-date file is not rewritten, because others may be reading it.
  if ((await readFile(typesFile, 'utf8')) !== types) await writeFile(typesFile, types);
  const folder = join(root, '.local', 'sdk');
  await build(folder);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: folder });
  const [packed] = JSON.parse(stdout) as [{ filename: string; size: number; unpackedSize: number }];
  process.stdout.write(
    `${join(folder, packed.filename)}: ${packed.size} bytes, unpacked ${packed.unpackedSize}; no dependencies\n`,
  );
}
