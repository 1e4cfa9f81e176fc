import type { ChainStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { callAs } from '../stack/call-as.ts';
import { StackError } from '../stack/directory.ts';
import type { World } from './world.ts';

/** Calls a service of the stack directly, as the other services do. @throws StackError when the status is not 200. */
export async function ask<T>({ stack }: World, service: ServiceName, path: string, body?: object): Promise<T> {
  const url = `${stack.services[service].url}/internal/v1${path}`;
  const answer = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...callAs(stack, service), 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new StackError(`${url} answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** The scan state of the local chain. */
export async function readChain(world: World): Promise<ChainStatus> {
  const chains = await ask<ChainStatus[]>(world, 'chain-watcher', '/chains');
  const chain = chains.find(({ network }) => network === world.stack.chain.network);
  if (chain === undefined) throw new StackError(`chain-watcher knows no network ${world.stack.chain.network}.`);
  return chain;
}
