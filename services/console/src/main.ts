import { createServiceClient } from '@quittance/http/client/client.ts';
import { listen, listenForProbes } from '@quittance/http/server/listen.ts';
import { NOTIFIER, type CallOwner } from '@quittance/contracts/service-name.ts';
import { startService } from '@quittance/runtime/service.ts';
import { readConfig } from './config.ts';
import { createConsoleApp } from './app.ts';
import { explorerOf } from './explorer.ts';
import type { Clients } from './services.ts';

/** A person waits; what is read from a chain takes a while. Each page ends earlier, unless it waits for a merchant's receiver. */
const TIMEOUT_MS = { 'api-gateway': 18_000, others: 10_000 };

const name = 'console';

await startService({
  name,
  readConfig,
  start: async ({
    config: { host, port, probesPort, urls, networks, notifierUrl, ...config },
    logger,
    metrics,
    lifecycle,
  }) => {
    const clientOf = ([owner, baseUrl]: [string, string]) => {
      const client = createServiceClient({
        ...{ name: owner, baseUrl, showCaller: null },
        timeoutMs: owner === 'api-gateway' ? TIMEOUT_MS['api-gateway'] : TIMEOUT_MS.others,
        ...{ logger, metrics },
      });
      lifecycle.onStop(`client ${owner}`, () => client.close());
      return [owner as CallOwner, client] as const;
    };
    const all = { ...urls, ...(notifierUrl !== '' && { [NOTIFIER]: notifierUrl }) };
    const clients = Object.fromEntries(Object.entries(all).map(clientOf)) as Clients;
    let isListening = false;
    const ready = () => (isListening ? Promise.resolve() : Promise.reject(new Error('the pages are not served yet')));
    await listenForProbes({ name, logger, metrics, ready }, { host, port: probesPort, lifecycle });
    await listen(createConsoleApp({ clients, logger, metrics, explorer: explorerOf(networks), ...config }), {
      host,
      port,
      lifecycle,
      logger,
    });
    isListening = true;
  },
});
