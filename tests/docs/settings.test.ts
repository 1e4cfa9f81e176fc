import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { brokerUsers, passwordSettingOf } from '@quittance/messaging/broker/set-up.ts';
import { readConfig as readConsoleConfig } from '../../services/console/src/config.ts';
import { notifierSettings, readSettings, samples, settingsOf } from '../support/service-settings.ts';

type Row = { name: string; defaultText: string; required: boolean };

const tables = readTables(readFileSync(join(repositoryRoot, 'docs', 'settings.md'), 'utf8'));

/** Only tests and screenshots need a browser. */
const browserFile = join(repositoryRoot, 'packages', 'local-backends', 'src', 'chromium.ts');

describe('docs/settings.md', () => {
  describe.each(serviceNames)('of %s', (service) => {
    const read = (env: NodeJS.ProcessEnv) => readSettings(service, env);
    const rows = [...table('Every service'), ...table(service)];

    test('has every setting that the process reads, and no others', () => {
      expect(namesOf(rows)).toEqual(settingsOf(service).known);
    });

    test('marks the settings as required without which the process does not start', () => {
      expect(namesOf(rows.filter(({ required }) => required))).toEqual(settingsOf(service).required);
    });

    test('gives the actual defaults', () => {
      for (const { name, defaultText } of rows.filter((row) => row.defaultText !== '')) {
        expect(read({ ...samples, [name]: defaultText })).toEqual(read(samples));
      }
    });
  });

  test('has every setting of the console', () => {
    const asked = new Set<string>();
    const env = { ...samples, API_GATEWAY_URL: 'http://gateway', PROBES_PORT: '8081' };
    readConsoleConfig(new Proxy(env, { get: (all, name: string) => (asked.add(name), all[name as never]) }));
    expect(['HOST', 'PORT', ...namesOf(table('console'))].sort()).toEqual([...asked].sort());
  });

  describe('of the notifier', () => {
    const rows = [...table('Every service').filter(({ name }) => name !== 'AMQP_URL'), ...table('notifier')];

    test('has every setting that the process reads, and no others', () => {
      expect(namesOf(rows)).toEqual(notifierSettings().known);
    });

    test('marks the settings as required without which the process does not start', () => {
      expect(namesOf(rows.filter(({ required }) => required))).toEqual(notifierSettings().required);
    });
  });

  test('has every setting of the preparation of RabbitMQ', () => {
    const source = readFileSync(join(repositoryRoot, 'packages', 'messaging', 'src', 'broker', 'prepare.ts'), 'utf8');
    const own = found([source], /'([A-Z]+(?:_[A-Z]+)*_URL)'/g);
    expect(namesOf(table('Preparing RabbitMQ'))).toEqual([...own, ...brokerUsers.map(passwordSettingOf)].sort());
  });

  test("has every setting of the operator's command line", () => {
    const source = readFileSync(join(repositoryRoot, 'packages', 'ops', 'src', 'config.ts'), 'utf8');
    expect(namesOf(table("The operator's command line"))).toEqual(found([source], /'([A-Z]+(?:_[A-Z]+)*)'/g));
  });

  test('has every setting of the local stack', () => {
    const folders = [
      ['infra', 'local'],
      ['infra', 'nginx'],
      ['packages', 'local-backends', 'src'],
    ];
    const sources = folders
      .flatMap((folder) => sourcesBelow(...folder))
      .filter((source) => source !== readFileSync(browserFile, 'utf8'));
    expect(namesOf(table('The local stack'))).toEqual(found(sources, /env(?:ironment)?\['(?!PATH')([A-Z_]+)'\]/g));
  });

  test('has every setting of the tests', () => {
    const shared = [
      ...sourcesBelow('packages', 'testkit', 'src'),
      ...sourcesBelow('services', 'chain-watcher', 'test'),
    ];
    const ofTests = found(shared, /\b(TEST_[A-Z_]+)/g);
    const own = found(
      [...sourcesBelow('tests', 'conformance'), ...sourcesBelow('tests', 'support'), readFileSync(browserFile, 'utf8')],
      /process\.env\['(?!(?:PATH|JEST_WORKER_ID)')([A-Z_]+)'\]/g,
    );
    expect(namesOf(table('The tests'))).toEqual([...own, ...ofTests].sort());
  });
});

/** The tables by their headings. */
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

/** Only sources: the links of packages to each other form circles. */
function sourcesBelow(...directory: string[]): string[] {
  const cwd = join(repositoryRoot, ...directory);
  const names = globSync('**/*.{ts,mjs}', { cwd, exclude: ['**/node_modules', '**/test'] });
  return names.map((name) => readFileSync(join(cwd, name), 'utf8'));
}

/** The matches of the pattern's group, sorted and unique. */
const found = (sources: readonly string[], pattern: RegExp): string[] =>
  [...new Set(sources.flatMap((source) => [...source.matchAll(pattern)].map(([, name = '']) => name)))].sort();
