import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NOTIFIER, OPS, type Caller, serviceNames } from '@quittance/contracts/service-name.ts';
import { newSigningKey } from '@quittance/runtime/trust.ts';

/** The checkout that contains this file. */
export const repositoryRoot = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/** The places of everything that the local stack keeps: absolute paths below `.local` (or the directory that a test chose). */
export type StackDirectory = ReturnType<typeof stackDirectory>;

export function stackDirectory(root: string = process.env['LOCAL_DIRECTORY'] || join(repositoryRoot, '.local')) {
  return {
    root,
    logs: join(root, 'logs'),
    postgres: join(root, 'postgres'),
    rabbitmq: join(root, 'rabbitmq'),
    nginx: join(root, 'nginx'),
    chain: join(root, 'chain'),
    receiver: join(root, 'receiver'),
    certificates: join(root, 'certificates'),
    /** Unpacked programs. All stacks of the checkout share them, because they never change. */
    tools: join(repositoryRoot, '.local', 'tools'),
    stackFile: join(root, 'stack.json'),
    /** Which process runs what, so that a new start can end what a killed stack left running. */
    pids: join(root, 'pids'),
    secretsFile: join(root, 'secrets.json'),
    merchantFile: join(root, 'merchant.json'),
    shopFile: join(root, 'shop.json'),
    networksFile: join(root, 'networks.json'),
  };
}

/** Created once and kept, so that a stack that is started again can read its own data. */
export type Secrets = {
  /** The keys of each service and of `ops`. */
  signing_keys: Record<Caller, string>;
  /** Only in a stack that was made by release 0.2.0 or an earlier one; its messages may still be waiting. */
  internal_token?: string;
  webhook_encryption_key: string;
  wallet_pool_encryption_key: string;
  notices_encryption_key: string;
  database_password: string;
};

export async function readOrMakeSecrets(directory: StackDirectory): Promise<Secrets> {
  const kept = await readJson<Partial<Secrets>>(directory.secretsFile);
  // A stack of an earlier release lacks some.
  if (kept?.signing_keys !== undefined && kept.notices_encryption_key !== undefined) return kept as Secrets;
  const secrets = {
    webhook_encryption_key: randomBytes(32).toString('base64'),
    wallet_pool_encryption_key: randomBytes(32).toString('base64'),
    notices_encryption_key: randomBytes(32).toString('base64'),
    database_password: randomBytes(24).toString('hex'),
    ...kept,
    signing_keys: { ...newSigningKeys(), ...kept?.signing_keys },
  };
  await writePrivateJson(directory.secretsFile, secrets);
  return secrets;
}

const newSigningKeys = () =>
  Object.fromEntries([...serviceNames, NOTIFIER, OPS].map((name) => [name, newSigningKey()])) as Record<Caller, string>;

/**
 * @returns the parsed file, or null when it does not exist.
 * @throws StackError for invalid JSON, which says how to recover.
 */
export async function readJson<T>(file: string): Promise<T | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new StackError(
      `${file} cannot be read (${(error as Error).message}). \`npm run reset\` deletes all local data.`,
    );
  }
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new StackError(
      `${file} is damaged. \`npm run reset\` deletes all local data, so that a new start is possible.`,
    );
  }
}

/** Replaces the file in one step, readable by its owner only. */
export async function writePrivateJson(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const next = `${file}.${process.pid}.next`;
  await writeFile(next, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(next, file);
}

/** An error that a person can fix; shown without a stack trace. */
export class StackError extends Error {
  override readonly name = 'StackError';
}
