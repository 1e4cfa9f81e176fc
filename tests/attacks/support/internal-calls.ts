import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Call } from '@quittance/contracts/call.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

const folder = join(repositoryRoot, 'packages', 'contracts', 'src', 'http');

/** Every call that services declare, so that new calls are attacked automatically. */
export async function internalCalls(): Promise<Call[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts')).sort();
  const modules = await Promise.all(files.map((file) => import(join(folder, file)) as Promise<object>));
  const calls = modules.flatMap((module) => Object.values(module).filter(isCall));
  return [...new Map(calls.map((call) => [`${call.owner} ${call.method} ${call.path}`, call])).values()];
}

const isCall = (value: unknown): value is Call =>
  typeof value === 'object' && value !== null && 'owner' in value && 'access' in value && 'path' in value;

/** The path with valid ids that do not exist. */
export const pathWithIds = ({ path }: Call): string =>
  path.replaceAll(/:(\w+)/g, (_text, name: string) => {
    if (name === 'merchant_id') return newId('mer');
    if (name === 'payment_id') return newId('pay');
    if (name === 'event_id') return newId('evt');
    return name === 'transaction_event_index' ? '0' : 'unknown';
  });
