import type { Logger } from '@quittance/runtime/logger.ts';
import {
  createConnector,
  createPrivateConnector,
  dialPrivate,
  dialPublic,
  openTls,
  type Dial,
  type DialPrivate,
} from './dial.ts';
import { addressOf, type PrivateTarget } from './private-targets.ts';
import { systemResolve, type Resolve } from './resolve.ts';
import { NameNotFound } from './errors.ts';

/** The connectors for this process's webhooks, from its settings: to public addresses and private targets, or only to the local receiver. */
export function waysOut(
  config: {
    localReceiver: LocalReceiver | null;
    nameServers: string[];
    privateTargets: readonly PrivateTarget[];
    privateTargetsCa: string | null;
  },
  logger: Logger,
) {
  if (config.localReceiver !== null) logger.warn('webhooks go to the local receiver, none leaves this machine');
  const local = config.localReceiver && localReceiver(config.localReceiver);
  const resolve = local?.resolve ?? systemResolve({ servers: config.nameServers });
  const toPrivate = local?.dial ?? dialPrivate(config.privateTargetsCa);
  const toNotifier = local?.dialNotifier ?? toPrivate;
  for (const target of config.privateTargets) {
    const fields = { merchant_id: target.merchantId ?? 'all', host: target.host, address: addressOf(target) };
    logger.warn(fields, "a merchant's webhooks may go to a private network");
  }
  return {
    resolve,
    connector: createConnector({ resolve, dial: local?.dial ?? dialPublic() }),
    privateTargets: config.privateTargets.map((target) => ({
      ...target,
      connector: createPrivateConnector(target, target.merchantId === null ? toNotifier : toPrivate),
    })),
  };
}

/** The local stack's receiver, always on the loopback interface. */
export type LocalReceiver = { address: '127.0.0.1'; port: number };

/** The address of every host name. Public, so that it passes the policy, and never dialled. */
const STAND_IN_ADDRESS = '8.8.8.8';

/**
 * Connects to this machine only, for the local stack: every name exists, except under `.invalid`, and every address is the local receiver,
 * also those of private targets. The notifier is a process of its own, at its port of this machine. The URL policy, the rules for resolved
 * addresses and TLS verification stay the same.
 */
export function localReceiver({ address, port }: LocalReceiver): {
  resolve: Resolve;
  dial: Dial;
  dialNotifier: DialPrivate;
} {
  return {
    resolve: async (name) => {
      if (name.endsWith('.invalid')) throw new NameNotFound(name);
      return [STAND_IN_ADDRESS];
    },
    dial: (target) => openTls({ ...target, address, port }),
    dialNotifier: (target) => openTls({ ...target, address }),
  };
}
