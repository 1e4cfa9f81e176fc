import { createServiceClient } from '@quittance/http/client/client.ts';
import { listen } from '@quittance/http/server/listen.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { startService } from '@quittance/runtime/service.ts';
import { readConfig } from './config.ts';
import { createConsoleApp } from './routes/app.ts';
import type { Clients } from './upstream/services.ts';

/** A person waits; what is read from a chain takes a while. Each page ends earlier, unless it waits for a merchant's receiver. */
const TIMEOUT_MS = { 'api-gateway': 18_000, others: 10_000 };

await startService({
  name: 'console',
  readConfig,
  start: async ({ config: { host, port, urls, ...config }, logger, metrics, lifecycle }) => {
    const clientOf = ([name, baseUrl]: [string, string]) => {
      const client = createServiceClient({
        ...{ name, baseUrl, internalToken: null },
        timeoutMs: name === 'api-gateway' ? TIMEOUT_MS['api-gateway'] : TIMEOUT_MS.others,
        ...{ logger, metrics },
      });
      lifecycle.onStop(`client ${name}`, () => client.close());
      return [name as ServiceName, client] as const;
    };
    const clients = Object.fromEntries(Object.entries(urls).map(clientOf)) as Clients;
    await listen(createConsoleApp({ clients, logger, metrics, ...config }), { host, port, lifecycle, logger });
  },
});
