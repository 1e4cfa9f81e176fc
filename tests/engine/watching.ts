import { chmod, chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Project } from './compose.ts';

type PrometheusAlert = { labels: { alertname: string }; state: string };
type HeldAlert = { labels: { alertname: string }; status: { state: string; inhibitedBy: string[] } };

/** The example, with a mail server that does not exist, so that no real one gets mail. */
export async function writeReceiver({ folder }: Project): Promise<void> {
  const example = await readFile(join(folder, 'infra/observability/alertmanager.example.yml'), 'utf8');
  const file = join(folder, 'alertmanager.yml');
  await writeFile(file, example.replace('smtp.example.com:587', '127.0.0.1:25'), { mode: 0o600 });
  // Only root can make the container's user its owner.
  await (process.getuid?.() === 0 ? chown(file, 65_534, 65_534) : chmod(file, 0o644));
}

/** Asks Prometheus, from inside its container, because its port is not published. @param path below /api/v1/. */
export async function askPrometheus<T>({ compose }: Project, path: string): Promise<T> {
  return (JSON.parse(await get(compose, 'prometheus', `9090/api/v1/${path}`)) as { data: T }).data;
}

/** The names of the alerts that fire at Prometheus. */
export async function firing(project: Project): Promise<string[]> {
  const { alerts } = await askPrometheus<{ alerts: PrometheusAlert[] }>(project, 'alerts');
  return namesOf(alerts.filter(({ state }) => state === 'firing'));
}

/** The names of the alerts that Alertmanager has and does not inhibit. */
export async function notInhibited({ compose }: Project): Promise<string[]> {
  const text = await get(compose, 'alertmanager', '9093/api/v2/alerts?active=true&silenced=false&inhibited=false');
  return namesOf(JSON.parse(text) as HeldAlert[]);
}

const get = (compose: Project['compose'], service: string, path: string): Promise<string> =>
  compose('exec', '-T', service, 'wget', '-q', '-O', '-', `http://127.0.0.1:${path}`);

const namesOf = (alerts: readonly { labels: { alertname: string } }[]): string[] =>
  [...new Set(alerts.map(({ labels }) => labels.alertname))].sort();
