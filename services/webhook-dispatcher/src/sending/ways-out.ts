import type { Logger } from '@quittance/runtime/logger.ts';
import { createConnector, createPrivateConnector, dialPrivate, dialPublic } from './dial.ts';
import { localReceiver, type LocalReceiver } from './local-receiver.ts';
import { addressOf, type PrivateTarget } from './private-targets.ts';
import { systemResolve } from './resolve.ts';

/** Where the webhooks of this process may go, as its settings say: out, to the private targets, or to the local receiver alone. */
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
  for (const target of config.privateTargets) {
    const fields = { merchant_id: target.merchantId, host: target.host, address: addressOf(target) };
    logger.warn(fields, "a merchant's webhooks may go to a private network");
  }
  return {
    resolve,
    connector: createConnector({ resolve, dial: local?.dial ?? dialPublic() }),
    privateTargets: config.privateTargets.map((target) => ({
      ...target,
      connector: createPrivateConnector(target, toPrivate),
    })),
  };
}
