import { randomBytes } from 'node:crypto';
import { eventually } from '@quittance/testkit/eventually.ts';
import { deploy, type Deployment } from '../deployment.ts';
import { patience } from '../docker.ts';
import type { Part, PartContext } from '../part.ts';
import { notInhibited, writeReceiver } from '../watching.ts';

/** Longer than the wait of any alert about what follows from the cause. */
const OUTAGE_MS = 10 * 60_000;
/** `group_wait` of alertmanager.example.yml: whatever is inhibited when this has passed is not sent. */
const GROUP_WAIT_MS = 30_000;
const EVERY_MS = 5_000;

const causes: { service: string; alert: string }[] = [
  { service: 'postgres', alert: 'PostgresUnreachable' },
  { service: 'rabbitmq', alert: 'BrokerUnreachable' },
  { service: 'payments', alert: 'PaymentsMissing' },
];

export const part: Part = {
  name: 'one-cause',
  about:
    'PostgreSQL, RabbitMQ and payments are stopped for ten minutes each, with customers: Alertmanager sends one alert about each, from the ' +
    'beginning until everything is well again',
  run: async (context) => {
    const files = ['docker-compose.alerts.yml'];
    const deployment = await deploy(context, { options: ['--own-proxy'], files, prepare: writeReceiver });
    const faults: string[] = [];
    for (const { service, alert } of causes) {
      await eventually(async () => expectNone(await notInhibited(deployment)), patience);
      const sent = await sentDuring(deployment, context, service);
      context.say(`sent    ${sent.join(', ')} while ${service} was stopped`);
      if (sent.join() !== alert) faults.push(`${service} stopped: ${sent.join(', ') || 'nothing'}, not ${alert} alone`);
    }
    if (faults.length > 0) throw new Error(faults.join('\n'));
    await deployment.paid();
  },
};

function expectNone(alerts: readonly string[]): void {
  if (alerts.length > 0) throw new Error(`still firing: ${alerts.join(', ')}`);
}

/** Stops a service for the time of the outage, starts it, and watches until no alert is left. @returns what is sent, by name. */
async function sentDuring(deployment: Deployment, { say }: PartContext, service: string): Promise<string[]> {
  const since = new Map<string, number>();
  const sent = new Set<string>();
  const look = async (): Promise<string[]> => {
    const now = await notInhibited(deployment);
    for (const name of since.keys()) if (!now.includes(name)) since.delete(name);
    for (const name of now) {
      const first = since.get(name) ?? performance.now();
      since.set(name, first);
      if (performance.now() - first < GROUP_WAIT_MS || sent.has(name)) continue;
      sent.add(name);
      say(`sent    ${name}`);
    }
    return now;
  };
  const customers = setInterval(() => void visit(deployment), 1_000);
  try {
    await deployment.compose('stop', service);
    say(`stopped ${service}`);
    const began = performance.now();
    while (performance.now() - began < OUTAGE_MS) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    await deployment.up();
    say(`started ${service}`);
    await eventually(async () => expectNone(await look()), { ...patience, intervalMs: EVERY_MS });
  } finally {
    clearInterval(customers);
  }
  return [...sent];
}

/** Asks for a payment that does not exist, as a checkout page asks: api-gateway counts it, and payments looks for it. */
const visit = ({ edgeUrl }: Deployment): Promise<unknown> =>
  fetch(`${edgeUrl}/api/v1/payments/${randomBytes(32).toString('base64url')}`, { signal: AbortSignal.timeout(10_000) })
    .then((answer) => answer.text())
    .catch(() => undefined);
