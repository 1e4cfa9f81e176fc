import { noticeChannels } from '@quittance/contracts/http/notifier.ts';
import { NOTIFIER } from '@quittance/contracts/service-name.ts';
import { serviceClients } from '@quittance/http/client/service-clients.ts';
import { createApp } from '@quittance/http/server/app.ts';
import { listen } from '@quittance/http/server/listen.ts';
import { parseAddress } from '@quittance/postgres/address.ts';
import { isLoginRefused, isUnavailable } from '@quittance/postgres/errors.ts';
import { createPool, ping } from '@quittance/postgres/pool.ts';
import { countForeignKeys, startResealLoop } from '@quittance/postgres/sealed-keys.ts';
import { checkSession, SessionRefused } from '@quittance/postgres/session.ts';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';
import { startService } from '@quittance/runtime/service.ts';
import { waitFor } from '@quittance/runtime/wait-for.ts';
import { emailSender } from './channels/email.ts';
import { operatorAgent, publicAgent } from './channels/post.ts';
import { slackSender } from './channels/slack.ts';
import { telegramSender } from './channels/telegram.ts';
import { readConfig } from './config.ts';
import { schema } from './migrations.ts';
import { insertNotices } from './notices/notice.sql.ts';
import { startSendLoops } from './notices/send.ts';
import { contentOf } from './notices/text.ts';
import { createHooks, listenForHooks } from './receiving/hooks.ts';
import { createSigningKeys } from './receiving/signing-keys.ts';
import { channelsOf } from './settings/destinations.ts';
import { settingsRoutes } from './settings/http.ts';
import { findMerchant, sealedSecrets } from './settings/settings.sql.ts';

const DATABASE_TIMEOUT_MS = 60_000;
/** A person waits for it at the console. */
const DISPATCHER_TIMEOUT_MS = 5_000;

const resealed = {
  table: sealedSecrets,
  what: 'secrets of notices',
  gauge: ['notices_keys_to_reseal', 'Secrets that were sealed with a key other than NOTICES_ENCRYPTION_KEY'],
} as const;

await startService({
  name: NOTIFIER,
  readConfig,
  start: async ({ config, logger, metrics, lifecycle }) => {
    const { host, port, trust, databaseUrl: url, consoleUrl } = config;
    const open = (applicationName: string, max: number) => {
      const pool = createPool({ url, schema, max, logger, applicationName, metrics });
      lifecycle.onStop(`database of ${applicationName}`, () => pool.end());
      return pool;
    };
    const [pool, readiness] = [open(NOTIFIER, config.databasePoolSize - 1), open(`${NOTIFIER} readiness`, 1)];
    await waitFor({
      name: 'the database',
      check: async () => {
        await checkSession(readiness, schema, parseAddress(url));
        await ping(readiness);
      },
      isRefusal: (error) => isLoginRefused(error) || error instanceof SessionRefused,
      ...{ timeoutMs: DATABASE_TIMEOUT_MS, logger, signal: lifecycle.stopping },
    });
    const vault = createKeyVault(config.encryptionKey, config.encryptionKeyPrevious);
    if ((await countForeignKeys(pool, sealedSecrets, vault.openedKeyIds)) > 0)
      throw new Error('stored secrets were encrypted with another key than NOTICES_ENCRYPTION_KEY or its predecessor');
    lifecycle.closing('reseal', startResealLoop({ pool, vault, keys: resealed, logger, metrics }));

    const clientOf = serviceClients({ caller: NOTIFIER, trust, logger, metrics, lifecycle });
    const dispatcher = clientOf('webhook-dispatcher', config.dispatcherUrl, DISPATCHER_TIMEOUT_MS);
    const senders = sendersOf(config);
    const sending = startSendLoops({ pool, vault, senders, consoleUrl, logger, metrics });
    lifecycle.closing('sending', sending);

    const ready = () => ping(readiness);
    const routes = settingsRoutes({ pool, vault, dispatcher, senders, consoleUrl, logger });
    await listen(createApp({ name: NOTIFIER, logger, metrics, routes, trust, ready, isUnavailable }), {
      ...{ host, port, lifecycle, logger },
    });
    const hooks = createHooks({
      keysOf: createSigningKeys({ pool, vault, dispatcher, logger }),
      accept: async (merchantId, event) => {
        const [content, merchant] = [contentOf(event), await findMerchant(pool, merchantId)];
        if (content === null || merchant === null) return;
        const { event_id: eventId } = event;
        await insertNotices(pool, { merchantId, eventId, channels: channelsOf(merchant), content });
        sending.wake();
      },
      logger,
    });
    const tls = { cert: config.hooksCertificate, key: config.hooksKey };
    await listenForHooks(hooks, { host, port: config.hooksPort, ...tls, lifecycle, logger });
    const channels = noticeChannels.filter((channel) => senders[channel] !== null);
    logger.info({ channels }, 'notices are sent by these channels');
  },
});

function sendersOf({ smtpUrl, from, telegramToken: token, telegramUrl }: ReturnType<typeof readConfig>) {
  return {
    email: smtpUrl === null || from === null ? null : emailSender({ smtpUrl, from }),
    telegram: token === null ? null : telegramSender({ url: telegramUrl, token, agent: operatorAgent() }),
    slack: slackSender({ agent: publicAgent() }),
  };
}
