import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { environmentText } from '../../../infra/docker/setup/init/env-file.ts';

export const exampleText = readFileSync(join(repositoryRoot, '.env.example'), 'utf8');

/** An .env as a new user gets it. */
export function makeEnvironment(): Record<string, string> {
  return parseEnv(environmentText(exampleText, null)) as Record<string, string>;
}
