import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { DockerfileParser } from 'dockerfile-ast';

export const dockerfileText = readFileSync(join(repositoryRoot, 'infra', 'docker', 'Dockerfile'), 'utf8');

/** An instruction: its keyword, and the rest with continued lines joined and without comments. */
export type Instruction = { keyword: string; text: string; stage: string };

export const instructions: Instruction[] = readInstructions();

/** The instructions of the last stage, which is the image. */
export const finalStage = instructions.filter(({ stage }) => stage === instructions.at(-1)!.stage);

/** The last instruction of its kind in the image. @throws Error when there is none. */
export function finalInstruction(keyword: string): string {
  const found = finalStage.findLast((instruction) => instruction.keyword === keyword);
  if (found === undefined) throw new Error(`the image has no ${keyword}`);
  return found.text;
}

const environment = finalInstruction('ENV')
  .split(/\s+/)
  .map((word): [string, string] => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]);
const isOfNode = ([name]: [string, string]): boolean =>
  ['NODE_COMPILE_CACHE', 'MALLOC_ARENA_MAX', 'NODE_OPTIONS'].includes(name);

/** The environment that the image sets. */
export const imageEnvironment: Record<string, string> = Object.fromEntries(
  environment.filter((pair) => !isOfNode(pair)),
);

/** The part of it that Node and its memory allocator read. */
export const nodeEnvironment: Record<string, string> = Object.fromEntries(environment.filter(isOfNode));

/** CMD, which the image runs. */
export const imageCommand = JSON.parse(finalInstruction('CMD')) as string[];
export const healthCommand = JSON.parse(/CMD (\[.*\])$/.exec(finalInstruction('HEALTHCHECK'))![1]!) as string[];

/** Links that the image is built with, from path to target. */
export const imageLinks = new Map(
  finalStage
    .filter(({ keyword }) => keyword === 'RUN')
    .flatMap(({ text }) => [...text.matchAll(/ln -s (\S+) (\S+)/g)])
    .map(([, target = '', path = '']) => [path, target]),
);

/** The Dockerfile's command that lays out the image of a service, with other folders. */
export function layoutCommand(service: string, source: string, target: string): string[] {
  const run = instructions.find(({ text }) => text.includes('layout.sh'))!;
  const words = run.text.split(/\s+/).filter((word) => !word.startsWith('--mount='));
  const places: Record<string, string> = { '"${SERVICE}"': service, '/source': source, '/app': target };
  return words.map((word) => places[word] ?? word);
}

function readInstructions(): Instruction[] {
  const lines = dockerfileText.split('\n');
  let stage = '';
  return DockerfileParser.parse(dockerfileText)
    .getInstructions()
    .map((instruction) => {
      const keyword = instruction.getKeyword();
      const { start, end } = instruction.getRange();
      const joined = lines
        .slice(start.line, end.line + 1)
        .join('\n')
        .replace(/\\\n/g, ' ');
      const text = joined.slice(keyword.length).trim().replace(/\s+/g, ' ');
      if (keyword === 'FROM') stage = / AS (\S+)$/.exec(text)?.[1] ?? text;
      return { keyword, text, stage };
    });
}
