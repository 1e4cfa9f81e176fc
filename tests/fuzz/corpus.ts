import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from './target.ts';

/** In the tree: what has once reached something new, as small as it was found. */
const corpusFolder = (target: string): string => join(import.meta.dirname, 'corpus', target);

/** @returns the inputs that are kept for a target, in the order of their files. */
export async function readCorpus(target: string): Promise<Json[]> {
  const folder = corpusFolder(target);
  const files = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.json')).sort();
  return Promise.all(files.map(async (file) => JSON.parse(await readFile(join(folder, file), 'utf8')) as Json));
}

/** Keeps an input. @returns its file. */
export async function keepInput(input: Json, folder: string): Promise<string> {
  const text = `${JSON.stringify(input)}\n`;
  const file = join(folder, `${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, text);
  return file;
}

/** Replaces what is kept for a target. */
export async function writeCorpus(target: string, inputs: readonly Json[]): Promise<void> {
  await rm(corpusFolder(target), { recursive: true, force: true });
  for (const input of inputs) await keepInput(input, corpusFolder(target));
}
