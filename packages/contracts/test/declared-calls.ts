import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Call } from '../src/call.ts';

const directory = fileURLToPath(new URL('../src/http/', import.meta.url));

/** Every internal call. */
export const declaredCalls: readonly Call[] = await Promise.all(
  globSync('**/*.ts', { cwd: directory }).map(async (file) => {
    const exported = Object.values((await import(`${directory}${file}`)) as object) as unknown[];
    // Incidents are declared as a pair of calls.
    const calls = exported.flatMap((value) =>
      isCall(value) ? [value] : isObject(value) ? (Object.values(value) as unknown[]) : [],
    );
    return calls.filter(isCall);
  }),
).then((files) => files.flat());

function isCall(value: unknown): value is Call {
  return isObject(value) && 'owner' in value && 'path' in value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
