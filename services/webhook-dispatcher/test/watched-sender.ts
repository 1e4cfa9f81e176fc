import { isPublicAddress } from '@quittance/contracts/public-address.ts';
import { createConnector, dialPublic, openTls, type Dial } from '../src/sending/dial.ts';
import { systemResolve } from '../src/sending/resolve.ts';
import { createSender, type Sender } from '../src/sending/sender.ts';
import { ownAddress, publicAddress } from './closed-names.ts';
import type { NameServer } from './name-server.ts';
import type { Receiver } from './receiver.ts';
import type { Trap } from './trap.ts';

export type Dialled = { host: string; address: string };

/**
 * The real resolver and connector, except that the public address is the test's receiver.
 * @param options.dialled gets every address that is dialled, also without a listener.
 */
export function watchedSender(options: {
  nameServer: NameServer;
  receiver: Receiver;
  trap: Trap;
  dialled: Dialled[];
}): Sender {
  const { nameServer, receiver, trap, dialled } = options;
  const reallyDial = dialPublic(trap.port);
  const dial: Dial = (target) => {
    dialled.push(target);
    if (target.address === publicAddress) return openTls({ ...target, address: ownAddress, port: receiver.port });
    return isPublicAddress(target.address) ? Promise.reject(new Error('not on this machine')) : reallyDial(target);
  };
  const connector = createConnector({ resolve: systemResolve({ servers: [nameServer.address] }), dial });
  return createSender({ connector, clock: () => new Date() });
}
