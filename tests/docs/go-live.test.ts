import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { environmentText } from '../../infra/docker/setup/init/env-file.ts';
import { alerts, base, external, readCompose, tls } from '../deployment/support/compose.ts';
import { exampleText } from '../deployment/support/environment-file.ts';
import { goLiveBlocks, goLivePage, verdictOf } from '../support/go-live.ts';

const shell = goLiveBlocks.filter(({ language }) => language === 'sh');

describe('docs/go-live.md', () => {
  test('has one verdict for each block of commands: run by the journey, or checked here, with a reason', () => {
    expect(shell.length).toBeGreaterThan(10);
    expect(shell.filter((block) => verdictOf(block) === null)).toEqual([]);
    expect(goLiveBlocks.filter(({ language }) => language !== 'sh').map(({ title }) => title)).toEqual([
      'endpoints.txt',
    ]);
  });

  test.each(shell.map(({ code }) => [code.split('\n')[0]!, code]))('is shell: %s', (_, code) => {
    // The reader's placeholders are not redirections.
    const filled = code.replaceAll(/<[a-z][\w ]*>/gi, 'X');
    expect(spawnSync('sh', ['-n'], { input: filled, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  test('names files of the checkout that exist', () => {
    const named = [...goLivePage.matchAll(/(?<![/.\w])(?:infra|docs|tests)\/[\w./-]+\w/g)].map(([file]) => file);
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((file) => !existsSync(join(repositoryRoot, file)))).toEqual([]);
    const links = [...goLivePage.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, file = '']) => file);
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((file) => !existsSync(join(repositoryRoot, 'docs', file)))).toEqual([]);
  });

  test('names services that Compose then has', () => {
    const environment = parseEnv(environmentText(exampleText, null)) as Record<string, string>;
    const { services } = readCompose([base, external, tls, alerts], environment);
    const words = shell.flatMap(({ code }) => [
      ...code.matchAll(/docker compose (?:run|exec|logs)((?: -[-\w]+)*) ([\w-]+)/g),
    ]);
    const named = words.map(([, , service = '']) => service);
    expect(named).toEqual(expect.arrayContaining(['ops', 'chain-watcher', 'alertmanager']));
    expect(named.filter((service) => !(service in services))).toEqual([]);
  });

  test('has a line for cron that runs the check every six hours, with an existing program', () => {
    const [, schedule, program = '', words] =
      /echo "(17 \*\/6 \* \* \*) .*\$PWD\/(packages\/\S+) (check .*?) 2>&1/.exec(goLivePage) ?? [];
    expect([schedule, words]).toEqual(['17 */6 * * *', 'check --report']);
    expect(existsSync(join(repositoryRoot, program))).toBe(true);
    // As in the clusters.
    expect(readFileSync(join(repositoryRoot, 'k8s/base/check/cronjob.yaml'), 'utf8')).toContain(`'${schedule}'`);
  });

  test('opens the published ports and ssh in its firewall', () => {
    const allowed = [...goLivePage.matchAll(/ufw allow (\S+)/g)].map(([, port]) => port);
    const { services } = readCompose(
      [base, external, tls],
      parseEnv(environmentText(exampleText, null)) as Record<string, string>,
    );
    const published = services['tls']!.ports!.map((port) => `${port.split(':')[1]!}/tcp`);
    expect(allowed).toEqual(['OpenSSH', ...published]);
  });
});
