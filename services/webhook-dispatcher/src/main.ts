import { serve } from '@quittance/http/server/listen.ts';
import { connectBackends } from '@quittance/messaging/backends.ts';
import { startConsumers } from '@quittance/messaging/consumer/consumer.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import { countForeignKeys, startResealLoop } from '@quittance/postgres/sealed-keys.ts';
import { parseAmqpUrls } from '@quittance/runtime/amqp-urls.ts';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';
import { systemClock } from '@quittance/runtime/time.ts';
import { startService } from '@quittance/runtime/service.ts';
import { readConfig } from './config.ts';
import { merchantStatusChanged } from './lanes/messages.ts';
import { noticeRaised, paymentPaid } from './events/messages.ts';
import { createTestSender, endpointRoutes } from './endpoints/http.ts';
import { startDeliverLoop } from './lanes/deliver.ts';
import { startGiveUpLoop, startMeasureLoop, startPartitionsLoop } from './lanes/housekeeping.ts';
import { schema } from './migrations.ts';
import { createBackPressure } from './lanes/back-pressure.ts';
import { limits } from './lanes/in-flight-limits.ts';
import { createQueries } from './events/reads.sql.ts';
import { refuseOwnServers, addressOf, findPrivateTarget } from './sending/private-targets.ts';
import { waysOut } from './sending/ways-out.ts';
import { checkRoute, eventRoutes } from './events/http.ts';
import { noticesRoutes } from './notices/http.ts';
import { laneRoutes } from './lanes/http.ts';
import { createSender } from './sending/sender.ts';
import { signingKeys } from './endpoints/endpoint.sql.ts';

const name = 'webhook-dispatcher';

const resealed = {
  table: signingKeys,
  what: 'signing keys',
  gauge: [
    'webhook_keys_to_reseal',
    'Signing keys in use that were sealed with a key other than WEBHOOK_ENCRYPTION_KEY',
  ],
} as const;

await startService({
  name,
  readConfig,
  start: async ({ config, logger, metrics, lifecycle }) => {
    const { retryDelaysSeconds } = config;
    const backends = connectBackends({ name, schema, config, logger, metrics, lifecycle });
    const { pool, operators, broker, outbox, legacy, reachable, ready } = backends;
    await reachable();
    const vault = createKeyVault(config.webhookEncryptionKey, config.webhookEncryptionKeyPrevious);
    if ((await countForeignKeys(pool, signingKeys, vault.openedKeyIds)) > 0) {
      throw new Error(
        'stored signing keys were encrypted with another key than WEBHOOK_ENCRYPTION_KEY or its predecessor',
      );
    }

    const targets = [...config.privateTargets, ...(config.notifier === null ? [] : [config.notifier])];
    await refuseOwnServers(targets, [config.databaseUrl, ...parseAmqpUrls(config.amqpUrl)]);
    const { resolve, connector, privateTargets } = waysOut({ ...config, privateTargets: targets }, logger);
    const sending = { connector, privateTargets, clock: systemClock };
    const sender = lifecycle.closing('sender', createSender(sending));
    const testSender = lifecycle.closing('test-sender', createSender(sending));
    const sendTest = createTestSender({ sender: testSender, vault });
    const pressure = lifecycle.closing('pressure', createBackPressure({ clock: systemClock, logger, metrics }));
    const { stopping } = lifecycle;
    const common = { pool, vault, retryDelaysSeconds, logger, metrics };
    const deliver = lifecycle.closing('deliver', startDeliverLoop({ ...common, sender, limits, pressure, stopping }));
    for (const start of [startMeasureLoop, startPartitionsLoop, startGiveUpLoop]) {
      lifecycle.closing(start.name, start(common));
    }
    lifecycle.closing('reseal', startResealLoop({ ...common, keys: resealed }));
    const wake = () => deliver.wake();
    const handlers = [paymentPaid(wake), noticeRaised(wake), merchantStatusChanged(wake)];
    lifecycle.closing(
      'consumers',
      startConsumers({ broker, pool, service: name, handlers, trust: config.trust, legacy, logger, metrics }),
    );

    const queries = createQueries(pool, schema);
    const privateTargetOf = (merchantId: string, host: string | null) => {
      const target = findPrivateTarget(privateTargets, merchantId, host);
      return target ? addressOf(target) : null;
    };
    const routes = [
      ...endpointRoutes({ pool, outbox, vault, resolve, privateTargets, sendTest }),
      ...noticesRoutes({ pool, outbox, vault, notifier: config.notifier }),
      ...eventRoutes({ pool, queries, privateTargetOf, wake }),
      checkRoute(operators),
      ...laneRoutes({ pool: operators, queries, privateTargetOf }),
    ];
    // The broker is not part of readiness: without it everything works except that no new events arrive.
    await serve({ name, config, legacy, logger, metrics, lifecycle, routes, ready, isUnavailable });
  },
});
