import { prepareDatabase } from './database.ts';
import { writeEdgeConfiguration } from './edge.ts';
import { deployTestToken } from './test-token.ts';

/** What docker-compose.yml has done once before the services start. Doing any of it again changes nothing. */
const jobs: Record<string, (env: NodeJS.ProcessEnv) => Promise<string>> = {
  database: prepareDatabase,
  edge: writeEdgeConfiguration,
  'test-token': deployTestToken,
};

const name = process.argv[2] ?? '';
const job = Object.hasOwn(jobs, name) ? jobs[name] : undefined;
if (job === undefined) {
  process.stderr.write(`usage: main.ts ${Object.keys(jobs).join(' | ')}\n`);
  process.exit(64);
}
try {
  process.stdout.write(`${await job(process.env)}\n`);
} catch (error) {
  process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
