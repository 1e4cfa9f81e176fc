import { settingPrefix } from '@quittance/contracts/service-name.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { ConfigurationError, settings } from '@quittance/runtime/settings.ts';
import { brokerUsers, prepareBroker, type BrokerUser } from './set-up.ts';

// `node packages/messaging/src/broker/prepare.ts`, before the services of a new version start: declares exchanges and queues, and makes
// the users of RabbitMQ where it is told the management API. See docs/settings.md.
const logger = createLogger({ service: 'prepare-broker', level: 'info' });
try {
  const { url, managementUrl, passwords } = readConfig(process.env);
  await prepareBroker(url, managementUrl === '' ? null : { managementUrl, passwords }, logger);
  logger.info({ users: managementUrl === '' ? 0 : brokerUsers.length }, 'RabbitMQ is prepared');
} catch (error) {
  if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
  else logger.fatal({ error }, 'RabbitMQ could not be prepared');
  process.exitCode = 1;
}

function readConfig(env: NodeJS.ProcessEnv) {
  return settings(env, (read) => {
    const amqp = { protocols: ['amqp:', 'amqps:'] };
    // One user for all.
    const shared = read.url('AMQP_URL', { ...amqp, default: '' });
    const managementUrl =
      shared === '' ? read.url('RABBITMQ_MANAGEMENT_URL', { protocols: ['http:'], default: '' }) : '';
    const passwordOf = (user: BrokerUser): string => {
      const prefix = user === 'operator' ? 'OPERATOR_' : settingPrefix(user);
      return managementUrl === '' ? '' : read.secret(`${prefix}RABBITMQ_PASSWORD`, { minLength: 16 });
    };
    const passwords = Object.fromEntries(brokerUsers.map((user) => [user, passwordOf(user)]));
    return {
      url: shared === '' ? read.url('RABBITMQ_ADMIN_URL', amqp) : shared,
      managementUrl,
      passwords: passwords as Record<BrokerUser, string>,
    };
  });
}
