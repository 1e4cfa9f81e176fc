import { runTask } from '@quittance/runtime/service.ts';
import { settings } from '@quittance/runtime/settings.ts';
import { brokerUsers, passwordSettingOf, prepareBroker, type BrokerUser } from './set-up.ts';

// `node packages/messaging/src/broker/prepare.ts`, before the services of a new version start: declares exchanges and queues, and makes
// the users of RabbitMQ where it is told the management API. docs/settings.md has its settings.
await runTask({
  name: 'prepare-broker',
  readConfig,
  run: ({ config: { url, managementUrl, passwords }, logger }) =>
    prepareBroker(url, managementUrl === '' ? null : { managementUrl, passwords }, logger),
});

function readConfig(env: NodeJS.ProcessEnv) {
  return settings(env, (read) => {
    const amqp = { protocols: ['amqp:', 'amqps:'] };
    // One user for all.
    const shared = read.url('AMQP_URL', { ...amqp, default: '' });
    const managementUrl =
      shared === '' ? read.url('RABBITMQ_MANAGEMENT_URL', { protocols: ['http:', 'https:'], default: '' }) : '';
    const passwordOf = (user: BrokerUser): string =>
      managementUrl === '' ? '' : read.secret(passwordSettingOf(user), { minLength: 16 });
    const passwords = Object.fromEntries(brokerUsers.map((user) => [user, passwordOf(user)]));
    return {
      url: shared === '' ? read.url('RABBITMQ_ADMIN_URL', amqp) : shared,
      managementUrl,
      passwords: passwords as Record<BrokerUser, string>,
    };
  });
}
