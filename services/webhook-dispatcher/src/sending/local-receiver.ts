import { NameNotFound } from './errors.ts';
import { openTls, type Dial } from './dial.ts';
import type { Resolve } from './resolve.ts';

/** Where the local stack's receiver listens, always on the loopback interface. */
export type LocalReceiver = { address: '127.0.0.1'; port: number };

/** Stands for every host name. Public, so that the same policy lets it through, and never dialled. */
const STAND_IN_ADDRESS = '8.8.8.8';

/**
 * A connection that ends on this machine, for the local stack: every name exists, except under `.invalid`, and every address
 * is the local receiver, those of private targets too. The URL policy, name resolution rules and TLS verification before it stay the same.
 */
export function localReceiver({ address, port }: LocalReceiver): { resolve: Resolve; dial: Dial } {
  return {
    resolve: async (name) => {
      if (name.endsWith('.invalid')) throw new NameNotFound(name);
      return [STAND_IN_ADDRESS];
    },
    dial: (target) => openTls({ ...target, address, port }),
  };
}
