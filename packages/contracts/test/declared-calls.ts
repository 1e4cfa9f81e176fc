import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Call } from '../src/call.ts';
import { NOTIFIER, type ServiceName } from '../src/service-name.ts';

const directory = fileURLToPath(new URL('../src/http/', import.meta.url));

/** Every internal call, with the folder of the service in which it is declared; null for a file about several services. */
export const declaredIn: readonly { folder: string | null; call: Call }[] = await Promise.all(
  globSync('**/*.ts', { cwd: directory }).map(async (file) => {
    const exported = Object.values((await import(`${directory}${file}`)) as object) as unknown[];
    // Incidents are declared as a pair of calls.
    const calls = exported.flatMap((value) =>
      isCall(value) ? [value] : isObject(value) ? (Object.values(value) as unknown[]) : [],
    );
    const [folder] = file.includes('/') ? file.split('/') : [null];
    return calls.filter(isCall).map((call) => ({ folder: folder ?? null, call }));
  }),
).then((files) => files.flat());

export const declaredCalls: readonly Call[] = declaredIn.map(({ call }) => call);

/** Those of the services that run everywhere. */
export const callsOfServices = declaredCalls.filter(isOfService);

export type ServiceCall = Call & { owner: ServiceName };

function isOfService(call: Call): call is ServiceCall {
  return call.owner !== NOTIFIER;
}

function isCall(value: unknown): value is Call {
  return isObject(value) && 'owner' in value && 'path' in value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
