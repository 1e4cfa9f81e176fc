import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Site } from './render.ts';

const program = fileURLToPath(new URL('render.ts', import.meta.url));

/**
 * Makes the documentation in a process of its own: it takes a second of a processor, for which the gateway's one thread would answer
 * nobody. The process is told nothing of the gateway's settings. @throws Error with what it said when it fails.
 */
export async function makeSite(): Promise<Site> {
  const options = { env: {}, timeout: 60_000, maxBuffer: 16 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(process.execPath, [program], options);
  return JSON.parse(stdout) as Site;
}
