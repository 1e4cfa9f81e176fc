import { join } from 'node:path';
import { chooseByName, loadNamed } from '../support/named-files.ts';
import { projectName } from './compose.ts';
import { docker, removeAll } from './docker.ts';
import { prepareImages, type Images } from './images.ts';
import type { Part } from './part.ts';

/**
 * Runs the named parts, or all of them, on the engine that answers here. Everything is removed afterwards, except images.
 *
 *   main.ts [PART …]
 */
const began = performance.now();
const secondsSince = (start: number): string => ((performance.now() - start) / 1000).toFixed(0);
const say = (line: string): void => console.log(`${secondsSince(began).padStart(5)} s  ${line}`);

const all = await loadNamed<Part>(join(import.meta.dirname, 'parts'), '.part.ts', 'part');
const parts = chooseByName(all, process.argv.slice(2), 'part');
const engine = (await docker('version', '--format', '{{.Server.Version}}')).trim();
say(`engine  ${engine}, ${(await docker('compose', 'version')).trim()}`);
const images = await prepareImages(say);
const outcomes: string[] = [];
for (const part of parts) outcomes.push(await carryOut(part, images));
console.log(`\n${outcomes.join('\n')}`);

/** Runs one part. A failed part does not prevent the others. @returns its outcome. */
async function carryOut({ name, about, run }: Part, images: Images): Promise<string> {
  say(`\n${name}: ${about}`);
  const start = performance.now();
  const closers: (() => Promise<unknown>)[] = [];
  try {
    // Left by a killed run.
    await removeAll(projectName);
    const skipped = await run({ images, say, onEnd: (close) => closers.unshift(close) });
    if (skipped !== undefined) return `skipped ${name}: ${skipped}`;
    return `held    ${name}, in ${secondsSince(start)} s`;
  } catch (error) {
    process.exitCode = 1;
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say(`broken  ${name}: ${reason}`);
    return `broken  ${name}, in ${secondsSince(start)} s. To see it again: npm run faults -- engine --part ${name}`;
  } finally {
    closers.push(() => removeAll(projectName));
    for (const close of closers) await close().catch((error: unknown) => say(`while ending: ${String(error)}`));
  }
}
