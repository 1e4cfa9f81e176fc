import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

export type Named = { name: string; about: string };

/** The export named `exported` of each file in a folder with this suffix, in the order of the file names. */
export async function loadNamed<T extends Named>(folder: string, suffix: string, exported: string): Promise<T[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(suffix)).sort();
  const modules = await Promise.all(files.map((file) => import(join(folder, file)) as Promise<Record<string, T>>));
  return modules.flatMap((module) => module[exported] ?? []);
}

/** @returns those with these names, or all when no name is given. @throws Error for an unknown name. */
export function chooseByName<T extends Named>(all: readonly T[], names: readonly string[], kind: string): T[] {
  const unknown = names.filter((name) => !all.some((one) => one.name === name));
  if (unknown.length > 0) {
    throw new Error(`no ${kind} is called ${unknown.join(', ')}; there are: ${all.map(({ name }) => name).join(', ')}`);
  }
  return names.length === 0 ? [...all] : all.filter(({ name }) => names.includes(name));
}

/** A list for `--help`: names in one column, wrapped texts in the next. */
export function helpList(entries: readonly (readonly [name: string, text: string])[]): string {
  const indent = 2 + Math.max(...entries.map(([name]) => name.length)) + 2;
  return entries.map(([name, text]) => `  ${name}`.padEnd(indent) + wrapped(text, 100, indent)).join('\n');
}

function wrapped(text: string, width: number, indent: number): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && indent + line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join(`\n${' '.repeat(indent)}`);
}
