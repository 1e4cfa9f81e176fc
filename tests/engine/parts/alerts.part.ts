import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { readAlertRules } from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Project } from '../compose.ts';
import { deploy } from '../deployment.ts';
import { patience } from '../docker.ts';
import type { Part } from '../part.ts';
import { askPrometheus, writeReceiver } from '../watching.ts';

type Targets = { activeTargets: { health: string; scrapeUrl: string; lastError: string }[] };
type Rules = { groups: { rules: { type: string; health: string; name: string; lastError?: string }[] }[] };

export const part: Part = {
  name: 'alerts',
  about:
    'docker-compose.alerts.yml: Prometheus sees every service, has every rule and sends alerts to Alertmanager; it is killed and restarts',
  run: async (context) => {
    const deployment = await deploy(context, {
      options: ['--own-proxy'],
      files: ['docker-compose.alerts.yml'],
      prepare: writeReceiver,
    });
    context.say(`watched ${await eventually(() => checkPrometheus(deployment), patience)}`);
    // The last command about alerts in docs/go-live.md.
    const amtool = ['exec', '-T', 'alertmanager', 'amtool', '--alertmanager.url=http://127.0.0.1:9093', 'alert'];
    await deployment.compose(...amtool, 'add', 'Test', 'severity=critical');
    const waiting = await deployment.compose(...amtool, 'query');
    if (!waiting.includes('Test'))
      throw new Error(`Alertmanager does not have the alert that was sent to it: ${waiting}`);
    context.say('alert   Alertmanager has accepted a manual one');
    await deployment.survives('prometheus', 'alertmanager');
    context.say(`watched ${await eventually(() => checkPrometheus(deployment), patience)}`);
  },
};

async function checkPrometheus(project: Project): Promise<string> {
  const ask = <T>(path: string): Promise<T> => askPrometheus<T>(project, path);
  const { activeTargets } = await ask<Targets>('targets');
  const wanted = [
    ...serviceNames.map((name) => `//${name}:8080/`),
    '//rabbitmq:15692/metrics',
    '//rabbitmq:15692/metrics/detailed',
  ];
  for (const url of wanted) {
    const target = activeTargets.find(({ scrapeUrl }) => scrapeUrl.includes(url));
    if (target?.health !== 'up') throw new Error(`${url} is ${target?.health}: ${target?.lastError}`);
  }
  const rules = (await ask<Rules>('rules')).groups.flatMap((group) => group.rules);
  const bad = rules.filter(({ health }) => health !== 'ok');
  if (bad.length > 0) throw new Error(`not evaluated: ${JSON.stringify(bad)}`);
  const alerts = rules.filter(({ type }) => type === 'alerting').map(({ name }) => name);
  const files = (await readdir(join(repositoryRoot, 'infra/observability/alerts'))).filter((file) =>
    file.endsWith('.yaml'),
  );
  const ours = files.flatMap((file) =>
    readAlertRules(pathToFileURL(join(repositoryRoot, 'infra/observability/alerts', file))),
  );
  if (alerts.length !== ours.length) throw new Error(`${ours.length} alerts are defined, and ${alerts.length} loaded`);
  const { activeAlertmanagers } = await ask<{ activeAlertmanagers: unknown[] }>('alertmanagers');
  if (activeAlertmanagers.length !== 1) throw new Error('Prometheus has found no Alertmanager');
  return `${wanted.length} targets are up, ${alerts.length} alerts evaluated, Alertmanager found`;
}
