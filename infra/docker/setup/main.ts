import { CommanderError } from 'commander';
import { prepareDatabase } from './database.ts';
import { writeEdgeConfiguration } from './edge.ts';
import { init } from './init/init.ts';
import { certifyNotices } from './notices.ts';
import { deployTestToken } from './test-token.ts';
import { demonstrate, prepareTrial, receive } from './trial.ts';

/**
 * The one-time jobs that docker-compose.yml runs before the services start; running one again changes nothing. Also `init`, with which a
 * person creates the files for Compose, and the jobs of docker-compose.trial.yml: its merchant, `receiver` and `demo`.
 */
const jobs: Record<string, (env: NodeJS.ProcessEnv, words: string[]) => Promise<string>> = {
  init,
  database: prepareDatabase,
  edge: writeEdgeConfiguration,
  'test-token': deployTestToken,
  'notices-certificate': (env) => certifyNotices(env),
  'trial-merchant': prepareTrial,
  receiver: receive,
  demo: demonstrate,
};

const name = process.argv[2] ?? '';
const job = Object.hasOwn(jobs, name) ? jobs[name] : undefined;
if (job === undefined) {
  process.stderr.write(`usage: main.ts ${Object.keys(jobs).join(' | ')}\n`);
  process.exit(64);
}
try {
  process.stdout.write(`${await job(process.env, process.argv.slice(3))}\n`);
} catch (error) {
  // Commander has already printed the help or an error message.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 64);
  process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
