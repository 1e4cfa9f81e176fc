import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '../stack/directory.ts';

/**
 * `npm run test:rabbitmq4 [-- paths]` runs the tests that talk to RabbitMQ on RabbitMQ 4, whatever the machine has. It uses Debian 13's
 * packages, which the first run downloads (43 MB). Given paths, it runs those tests instead. It ignores TEST_AMQP_URL, because that broker
 * may be of another generation.
 */
const usual = [
  'packages/messaging/test',
  'packages/testkit/test',
  'packages/ops/test/dead-letter',
  'packages/local-backends/test/rabbitmq',
  'tests/journeys/one-payment',
];

const environment = { ...process.env, TEST_AMQP_URL: '', TEST_AMQP_MANAGEMENT_URL: '', RABBITMQ_GENERATION: '4' };
const words = process.argv.slice(2);
const jest = spawn(
  process.execPath,
  [
    ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    ...[join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js'), ...(words.length === 0 ? usual : words)],
  ],
  { cwd: repositoryRoot, stdio: 'inherit', env: environment },
);
// Ctrl-C also reaches jest, which stops what it started.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => jest.kill('SIGTERM'));
jest.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
