import { checkAmqpUrl } from '@quittance/runtime/amqp-urls.ts';
import { runTask } from '@quittance/runtime/service.ts';
import { settings } from '@quittance/runtime/settings.ts';
import { brokerUsers, passwordSettingOf, prepareBroker, type BrokerUser } from './set-up.ts';

// `node packages/messaging/src/broker/prepare.ts`, before the services of a new version start: declares exchanges and queues, and creates
// the users of RabbitMQ if the settings name the management API. Its settings are in docs/settings.md.
await runTask({
  name: 'prepare-broker',
  readConfig,
  run: ({ config: { url, managementUrl, passwords }, logger }) =>
    prepareBroker(url, managementUrl === '' ? null : { managementUrl, passwords }, logger),
});

function readConfig(env: NodeJS.ProcessEnv) {
  return settings(env, (read) => {
    // One user for all services.
    const shared = read.parsed('AMQP_URL', { default: '' }, checkAmqpUrl);
    const managementUrl =
      shared === '' ? read.url('RABBITMQ_MANAGEMENT_URL', { protocols: ['http:', 'https:'], default: '' }) : '';
    const passwordOf = (user: BrokerUser): string =>
      managementUrl === '' ? '' : read.secret(passwordSettingOf(user), { minLength: 16 });
    const passwords = Object.fromEntries(brokerUsers.map((user) => [user, passwordOf(user)]));
    return {
      url: shared === '' ? read.required('RABBITMQ_ADMIN_URL', checkAmqpUrl) : shared,
      managementUrl,
      passwords: passwords as Record<BrokerUser, string>,
    };
  });
}
