import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

/** The processes that were started with its environment, and what of our code runs in them. */
export type Watched = {
  /** Goes to the processes under test. */
  environment: Record<string, string>;
  /** Watches those that have started by now. */
  attach(): Promise<void>;
  /** @returns how many functions and branches of ours ran since the last call that had never run before. */
  fresh(): Promise<number>;
  /** Those that have ended since attach(). */
  dead(): number[];
  /** Of the largest of them, in bytes of memory. */
  residentBytes(): Promise<number>;
  close(): Promise<void>;
};

type Range = { startOffset: number; endOffset: number; count: number };
type ScriptCoverage = { url: string; functions: { ranges: Range[] }[] };

const preload = pathToFileURL(join(import.meta.dirname, 'count-coverage.ts')).href;
const root = pathToFileURL(repositoryRoot).href;

export async function watchProcesses(): Promise<Watched> {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-fuzz-'));
  const pids = new Set<number>();
  /** Of each function that has run: the parts of it that never have. */
  const missing = new Map<string, Range[]>();

  return {
    environment: {
      FUZZ_COVERAGE: directory,
      FUZZ_COVERED: `^${root}/(services|packages)/(?!testkit/)[^/]+/src/`,
      NODE_OPTIONS: `--import=${preload}`,
      // What is kept there was compiled without counters.
      NODE_DISABLE_COMPILE_CACHE: '1',
    },
    async attach() {
      for (const pid of (await readdir(directory)).map(Number)) if (isAlive(pid)) pids.add(pid);
    },
    async fresh() {
      let count = 0;
      for (const pid of pids) {
        for (const { url, functions } of await takeCoverage(join(directory, String(pid)))) {
          count += newIn(missing, url, functions);
        }
      }
      return count;
    },
    dead: () => [...pids].filter((pid) => !isAlive(pid)),
    async residentBytes() {
      const all = await Promise.all([...pids].map(residentBytesOf));
      return Math.max(0, ...all);
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** @returns nothing of a process that has ended. */
async function takeCoverage(path: string): Promise<ScriptCoverage[]> {
  try {
    return JSON.parse(await text(connect(path))) as ScriptCoverage[];
  } catch {
    return [];
  }
}

function newIn(missing: Map<string, Range[]>, url: string, functions: ScriptCoverage['functions']): number {
  let count = 0;
  for (const { ranges } of functions) {
    const [whole] = ranges;
    if (whole === undefined || whole.count === 0) continue;
    const key = `${url}:${whole.startOffset}:${whole.endOffset}`;
    const idle = ranges.filter((range) => range.count === 0);
    const before = missing.get(key);
    if (before === undefined) count += 1;
    // What was idle before, and is not inside anything that was idle now, has run.
    const still = before?.filter((one) => idle.some((other) => isInside(one, other))) ?? idle;
    count += (before?.length ?? still.length) - still.length;
    missing.set(key, still);
  }
  return count;
}

const isInside = (one: Range, other: Range): boolean =>
  one.startOffset >= other.startOffset && one.endOffset <= other.endOffset;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function residentBytesOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
