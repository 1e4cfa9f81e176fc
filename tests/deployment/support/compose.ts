import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parse } from 'yaml';
import { interpolate } from './interpolation.ts';

export type ComposeService = {
  image?: string;
  pull_policy?: string;
  build?: { context: string; dockerfile: string; args: Record<string, string> };
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  env_file?: { path: string; required: boolean }[];
  profiles?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  privileged?: boolean;
  security_opt?: string[];
  pids_limit?: number;
  mem_limit?: string;
  cpus?: number;
  restart?: string;
  stop_grace_period?: string;
  tmpfs?: string[];
  volumes?: string[];
  ports?: string[];
  networks?: Record<string, unknown>;
  network_mode?: string;
  logging?: { driver: string; options: Record<string, string> };
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string; required?: boolean }>;
  configs?: { source: string; target: string }[];
};

export type Compose = {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, unknown>;
  configs: Record<string, { file: string }>;
};

export const base = 'docker-compose.yml';
export const external = 'docker-compose.external.yml';
export const tls = 'docker-compose.tls.yml';
export const alerts = 'docker-compose.alerts.yml';
export const trial = 'docker-compose.trial.yml';
export const notices = 'docker-compose.notices.yml';
export const single = 'docker-compose.single.yml';
/** In this order, as init writes them. */
export const singleWithNotices = [notices, single, 'docker-compose.single-notices.yml'];

/**
 * The files as Compose merges them, with variables replaced. Only the merge rules that our files need are implemented: mappings are merged,
 * sequences appended, and `command`, `entrypoint` and the test of a health check replaced.
 * @throws Error when a required variable is not set.
 */
export function readCompose(files: readonly string[], env: Record<string, string>): Compose {
  const documents = files.map((file) => interpolate(readDocument(file), env));
  return documents.reduce((merged, document) => merge(merged, document)) as Compose;
}

export function composeText(file: string): string {
  return readFileSync(join(repositoryRoot, file), 'utf8');
}

/** One file, without merging. */
function readDocument(file: string): unknown {
  // Without the limit for untrusted files, because our files use many aliases.
  return parse(composeText(file), { merge: true, maxAliasCount: -1 });
}

const replaced = new Set(['command', 'entrypoint', 'test']);

function merge(below: unknown, above: unknown, key = ''): unknown {
  if (Array.isArray(below) && Array.isArray(above) && !replaced.has(key)) return [...below, ...(above as unknown[])];
  if (!isMapping(below) || !isMapping(above)) return above;
  const names = new Set([...Object.keys(below), ...Object.keys(above)]);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      name in below && name in above ? merge(below[name], above[name], name) : (below[name] ?? above[name]),
    ]),
  );
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
