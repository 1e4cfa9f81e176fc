import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Gives back what only the start needed, about 20 MB, and keeps what it compiled for the next start, if NODE_COMPILE_CACHE names a
 * place. Takes 50 to 100 ms, in which the process does nothing else: called once, right after a start.
 */
export function settleMemory(): void {
  flushCompileCache();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
