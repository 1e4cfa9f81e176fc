import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

export const newEnvironment = join(repositoryRoot, 'infra', 'docker', 'new-env.sh');

/** An .env as somebody gets it who starts for the first time. */
export function makeEnvironment(): Record<string, string> {
  const directory = mkdtempSync(join(tmpdir(), 'quittance-env-'));
  try {
    const file = join(directory, '.env');
    execFileSync('sh', [newEnvironment, file], { encoding: 'utf8' });
    return parseEnv(readFileSync(file, 'utf8')) as Record<string, string>;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
