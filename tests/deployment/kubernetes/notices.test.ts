import { beforeAll, expect, test } from '@jest/globals';
import { parseNotifier } from '../../../services/webhook-dispatcher/src/sending/private-targets.ts';
import { notifierSettings, readNotifierSettings, withHooksFiles } from '../../support/service-settings.ts';
import { environmentOf } from './support/environment.ts';
import { Network, type Party } from './support/network.ts';
import { podOf, podsOf, specOf, type KubernetesObject } from './support/objects.ts';
import { render } from './support/render.ts';
import { problemsOf } from './support/schemas.ts';

/** Production with the component. */
let objects: KubernetesObject[];
let network: Network;
let everybody: Party[];

beforeAll(async () => {
  objects = await render('production with notices');
  network = new Network(objects);
  const party = (name: string, labels: Record<string, string>, namespace = 'quittance') => ({
    name,
    labels,
    namespace,
  });
  everybody = [
    ...podsOf(objects).map(({ name, labels }) => party(name, labels)),
    party('postgres', { 'cnpg.io/cluster': 'postgres' }),
    party('stranger', { 'app.kubernetes.io/name': 'stranger' }),
    party('prometheus', { 'app.kubernetes.io/name': 'prometheus' }, 'monitoring'),
    party('neighbour', { 'app.kubernetes.io/name': 'webhook-dispatcher' }, 'default'),
  ];
});

const ports = [25, 443, 465, 587, 5432, 5672, 8080, 8081, 8443];
const notifier = () => everybody.find(({ name }) => name === 'notifier')!;

test('the component is valid for Kubernetes, and as strict as the other pods', () => {
  const named = objects.filter(({ metadata: { name } }) => name.includes('notif') || name.includes('notices'));
  expect(named.length).toBeGreaterThanOrEqual(9);
  expect(named.flatMap((object) => problemsOf(object) || [])).toEqual([]);
  const { spec, containers, initContainers } = podOf(objects, 'notifier');
  expect(spec).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
  });
  for (const { securityContext, resources } of [...containers, ...initContainers]) {
    expect(securityContext).toEqual({
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    });
    expect(resources?.limits).toHaveProperty('memory');
  }
});

test('webhook-dispatcher sends to the fixed address and port of the Service, and to nobody else in the cluster', () => {
  const { address, port } = parseNotifier(environmentOf(objects, 'webhook-dispatcher')['WEBHOOK_NOTIFIER']!, []);
  const service = specOf<{ clusterIP: string; ports: { port: number; targetPort: string }[] }>(
    ...([objects, 'Service', 'notifier'] as const),
  );
  expect(service.clusterIP).toBe(address);
  expect(service.ports).toContainEqual({ name: 'hooks', port, targetPort: 'hooks' });
  const senders = everybody.filter((from) => from !== notifier() && network.lets(from, notifier(), port));
  expect(senders.map(({ name }) => name)).toEqual(['webhook-dispatcher']);
});

test('the notifier is called by people and Prometheus, and calls webhook-dispatcher, its database and the internet', () => {
  const others = everybody.filter((party) => party !== notifier());
  const callers = others.filter((from) => network.lets(from, notifier(), 8080)).map(({ name }) => name);
  expect(callers.sort()).toEqual(['console', 'operator', 'prometheus']);
  const called = others.flatMap((to) =>
    ports.filter((port) => network.lets(notifier(), to, port)).map((port) => `${to.name}:${port}`),
  );
  expect(called.sort()).toEqual(['postgres:5432', 'webhook-dispatcher:8080']);
  for (const address of ['10.0.0.1', '169.254.169.254', '192.168.1.1', '127.0.0.1', 'fd00::1'])
    expect([address, ports.filter((port) => network.letsOut(notifier(), address, port))]).toEqual([address, []]);
  expect(ports.filter((port) => network.letsOut(notifier(), '8.8.8.8', port))).toEqual([443, 465, 587]);
});

test('its blocks of the internet are those of webhook-dispatcher', () => {
  type Egress = { egress: { to: { ipBlock?: object }[] }[] };
  const blocksOf = (name: string) =>
    specOf<Egress>(objects, 'NetworkPolicy', name).egress.flatMap(({ to }) =>
      to.flatMap(({ ipBlock }) => ipBlock ?? []),
    );
  expect(blocksOf('notifier')).toEqual(blocksOf('to-internet'));
});

test('it starts with its settings, and the Secrets that an operator makes', () => {
  // A secret of somebody else's is no placeholder for these, so the Secret's content is written here.
  const secret = {
    ...{ DATABASE_URL: 'postgres://quittance_notifier:x@postgres-rw:5432/quittance', SIGNING_KEY: '' },
    ...{ NOTICES_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'), SMTP_URL: 'smtps://u:p@mail.example:465' },
  };
  const settings = [...settingsOf('common-settings'), ...settingsOf('notifier-settings')];
  const env = { ...Object.fromEntries(settings), ...secret, TRUSTED_KEYS: '', INTERNAL_TOKEN: 't'.repeat(32) };
  withHooksFiles((files) => expect(() => readNotifierSettings({ ...env, ...files })).not.toThrow());
  const { known } = notifierSettings();
  expect(
    settingsOf('notifier-settings')
      .map(([name]) => name)
      .filter((name) => !known.includes(name)),
  ).toEqual([]);
});

/** The data of a ConfigMap, whose name ends in a hash. */
const settingsOf = (name: string): [string, string][] =>
  Object.entries(
    objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith(`${name}-`))?.data ?? {},
  );
