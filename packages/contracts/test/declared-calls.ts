import { readdirSync } from 'node:fs';
import type { Call } from '../src/call.ts';
import { serviceNames, type ServiceName } from '../src/service-name.ts';

const directory = new URL('../src/http/', import.meta.url);

/** Every internal call, with the service in whose folder it is declared. */
export const declaredCalls: readonly { service: ServiceName; call: Call }[] = await Promise.all(
  serviceNames.flatMap((service) =>
    readdirSync(new URL(`${service}/`, directory)).map(async (file) => {
      const exported = Object.values((await import(`${directory.href}${service}/${file}`)) as object) as unknown[];
      // Incidents are declared as a pair of calls.
      const calls = exported.flatMap((value) =>
        isCall(value) ? [value] : isObject(value) ? (Object.values(value) as unknown[]) : [],
      );
      return calls.filter(isCall).map((call) => ({ service, call }));
    }),
  ),
).then((files) => files.flat());

function isCall(value: unknown): value is Call {
  return isObject(value) && 'owner' in value && 'path' in value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
