import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { readFrameConfig } from '@quittance/runtime/service-settings.ts';
import { ConfigurationError } from '@quittance/runtime/settings.ts';
import { readConfig as readGatewayConfig } from '../../services/api-gateway/src/config.ts';
import { readConfig as readWatcherConfig } from '../../services/chain-watcher/src/config.ts';
import { readConfig as readPaymentsConfig } from '../../services/payments/src/config.ts';
import { readConfig as readQuotaConfig } from '../../services/quota/src/config.ts';
import { readConfig as readDispatcherConfig } from '../../services/webhook-dispatcher/src/config.ts';

type Row = { name: string; defaultText: string; required: boolean };

const tables = readTables(readFileSync(join(repositoryRoot, 'docs', 'settings.md'), 'utf8'));

/** Every setting that is required, and those that make a configuration look at another one. */
const samples: Record<string, string> = {
  PORT: '8081',
  DATABASE_URL: 'postgres://127.0.0.1/quittance',
  AMQP_URL: 'amqp://127.0.0.1/',
  INTERNAL_TOKEN: 'an internal token of at least 32 characters',
  NETWORKS_FILE: join(repositoryRoot, 'infra', 'networks.json'),
  PUBLIC_BASE_URL: 'https://pay.example',
  PAYMENTS_URL: 'http://payments',
  QUOTA_URL: 'http://quota',
  CHAIN_WATCHER_URL: 'http://chain-watcher',
  WEBHOOK_DISPATCHER_URL: 'http://webhook-dispatcher',
  WEBHOOK_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  WEBHOOK_LOCAL_RECEIVER: '127.0.0.1:8443',
  FAULT_POINT: 'a-place',
};

describe('docs/settings.md', () => {
  describe.each([
    ['api-gateway', readGatewayConfig],
    ['payments', readPaymentsConfig],
    ['chain-watcher', readWatcherConfig],
    ['webhook-dispatcher', readDispatcherConfig],
    ['quota', readQuotaConfig],
  ])('of %s', (service, readConfig) => {
    const read = (env: NodeJS.ProcessEnv) => ({ frame: readFrameConfig(env), service: readConfig(env) });
    const rows = [...table('Every service'), ...table(service)];

    test('has every setting that the process reads, and no other', () => {
      const asked = new Set<string>();
      read(
        new Proxy(samples, {
          get: (env, name: string) => {
            asked.add(name);
            return env[name];
          },
        }),
      );
      expect(namesOf(rows)).toEqual([...asked].sort());
    });

    test('calls those required without which the process does not start', () => {
      expect(namesOf(rows.filter(({ required }) => required))).toEqual(missingIn(() => read({})));
    });

    test('gives the defaults that are in force', () => {
      for (const { name, defaultText } of rows.filter((row) => row.defaultText !== '')) {
        expect(read({ ...samples, [name]: defaultText })).toEqual(read(samples));
      }
    });
  });

  test("has every setting of the operator's command line", () => {
    const source = readFileSync(join(repositoryRoot, 'packages', 'ops', 'src', 'config.ts'), 'utf8');
    expect(namesOf(table("The operator's command line"))).toEqual(found([source], /'([A-Z]+(?:_[A-Z]+)*)'/g));
  });

  test('has every setting of the local stack', () => {
    const sources = sourcesBelow('infra', 'local');
    expect(namesOf(table('The local stack'))).toEqual(found(sources, /env(?:ironment)?\['([A-Z_]+)'\]/g));
  });

  test('has every setting of the tests', () => {
    const shared = [
      ...sourcesBelow('packages', 'testkit', 'src'),
      ...sourcesBelow('services', 'chain-watcher', 'test'),
    ];
    const ofTests = found(shared, /\b(TEST_[A-Z_]+)/g);
    const own = found(sourcesBelow('tests', 'conformance'), /process\.env\['([A-Z_]+)'\]/g);
    expect(namesOf(table('The tests'))).toEqual([...own, ...ofTests].sort());
  });
});

/** The tables by the headings they stand under. */
function readTables(markdown: string): Map<string, Row[]> {
  const sections = markdown.split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const rows = section.split('\n').flatMap((line) => {
        const [name, , defaultText = '', required = ''] = line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1'));
        return name !== undefined && /^[A-Z_]+$/.test(name)
          ? [{ name, defaultText, required: required === 'yes' }]
          : [];
      });
      return [section.slice(0, section.indexOf('\n')), rows];
    }),
  );
}

function table(heading: string): Row[] {
  const rows = tables.get(heading);
  if (rows === undefined) throw new Error(`docs/settings.md has no section "${heading}"`);
  return rows;
}

const namesOf = (rows: readonly Row[]): string[] => rows.map(({ name }) => name).sort();

function missingIn(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const missing = error.problems.map((problem) => /^([A-Z_]+): is required$/.exec(problem)?.[1] ?? problem);
    return [...new Set(missing)].sort();
  }
  return [];
}

function sourcesBelow(...directory: string[]): string[] {
  const names = readdirSync(join(repositoryRoot, ...directory), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /^(?!.*(node_modules|test\/)).*\.(ts|mjs)$/.test(name))
    .map((name) => readFileSync(join(repositoryRoot, ...directory, name), 'utf8'));
}

/** What the pattern's group matches, sorted, each once. */
const found = (sources: readonly string[], pattern: RegExp): string[] =>
  [...new Set(sources.flatMap((source) => [...source.matchAll(pattern)].map(([, name = '']) => name)))].sort();
