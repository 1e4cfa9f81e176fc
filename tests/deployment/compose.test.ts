import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { images } from '@quittance/local-backends/container.ts';
import { serviceNames, settingPrefix } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { localNetwork } from '@quittance/local-stack/stack/network.ts';
import { Ajv } from 'ajv';
import { parseEnv } from 'node:util';
import {
  alerts,
  base,
  composeText,
  external,
  notices,
  readCompose,
  single,
  singleWithNotices,
  tls,
  trial,
  type Compose,
  type ComposeService,
} from './support/compose.ts';
import { exampleText, makeEnvironment } from './support/environment-file.ts';
import { variablesIn } from './support/interpolation.ts';
import { parseAmqpUrls } from '@quittance/runtime/amqp-urls.ts';

const environment = makeEnvironment();
const elsewhere = { ...environment, POSTGRES_ADDRESS: 'database.example:5432', AMQP_URL: 'amqps://broker.example/pay' };
const whole = readCompose([base], environment);
const variants: [string, Compose][] = [
  ['docker-compose.yml', whole],
  ['docker-compose.yml with docker-compose.external.yml', readCompose([base, external], elsewhere)],
  ['the same with TLS and alerts', readCompose([base, external, tls, alerts], environment)],
  ['docker-compose.yml with docker-compose.notices.yml', readCompose([base, notices], environment)],
  ['one process with notices', readCompose([base, external, tls, alerts, ...singleWithNotices], environment)],
  ['docker-compose.yml with docker-compose.trial.yml', readCompose([base, trial], environment)],
  ['all of it in one process', readCompose([base, external, tls, alerts, single], environment)],
];

const schema = JSON.parse(
  readFileSync(join(import.meta.dirname, 'schemas', 'compose-spec', 'compose-spec.json'), 'utf8'),
) as Record<string, unknown>;
// ajv knows the drafts of JSON Schema by other URLs.
delete schema['$schema'];
const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);

const isOurs = ({ image = '' }: ComposeService) => image.startsWith('quittance/');
const isJob = ({ restart }: ComposeService) => restart === 'no';

describe.each(variants)('%s', (_, compose) => {
  const services = Object.entries(compose.services);
  const selected = (filter: (service: ComposeService) => boolean) => services.filter(([, service]) => filter(service));

  test('is a compose file by the schema of the specification', () => {
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
  });

  test('runs the five services, each from its own image', () => {
    for (const name of serviceNames) {
      const service = compose.services[name]!;
      expect(service.image).toBe(`quittance/${name}:${environment['QUITTANCE_VERSION']}`);
      expect(service.build).toEqual({ context: '.', dockerfile: 'infra/docker/Dockerfile', args: { SERVICE: name } });
    }
  });

  test('builds each image once: every other service that runs from it uses the built one', () => {
    const ours = selected(isOurs).map(([, service]) => service);
    const built = ours.filter(({ build }) => build !== undefined).map(({ image }) => image);
    expect(built.toSorted()).toEqual([...new Set(ours.map(({ image }) => image))].toSorted());
    expect(ours.filter((service) => service.build === undefined && service.pull_policy !== 'never')).toEqual([]);
    expect(ours.filter((service) => service.build !== undefined && service.pull_policy === 'never')).toEqual([]);
  });

  // `up --wait` reports a failure if any other service ends, even with success.
  test('has another service wait for each job that does not run only by name', () => {
    const awaited = services.flatMap(([, { depends_on: waits = {} }]) => Object.keys(waits));
    const unawaited = selected((service) => isJob(service) && service.profiles === undefined)
      .map(([name]) => name)
      .filter((name) => !awaited.includes(name));
    expect(unawaited).toEqual([]);
  });

  test.each(services)('%s runs a pinned version, and a third-party image is pinned by its digest', (_, service) => {
    const [, digest] = /^[a-z0-9./-]+:v?\d+\.\d+(?:\.\d+)?(?:-[a-z0-9.-]+)?(@sha256:[0-9a-f]{64})?$/.exec(
      service.image!,
    ) ?? ['no version'];
    expect(digest !== undefined).toBe(!isOurs(service));
  });

  test.each(services)('%s has no more rights than it needs, and cannot write to its root', (name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      user: expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/),
      pids_limit: expect.any(Number),
      mem_limit: expect.any(String),
      cpus: expect.any(Number),
      logging: { driver: 'json-file', options: { 'max-size': expect.any(String), 'max-file': expect.any(String) } },
    });
    // The image's program does not start without this capability, although no-new-privileges prevents its use.
    expect(service.cap_add).toEqual(name === 'tls' ? ['NET_BIND_SERVICE'] : undefined);
    expect(service.privileged).toBeUndefined();
  });

  test.each(selected(isOurs))('%s runs as user 10001 and writes only to /tmp', (name, service) => {
    expect(service.user).toBe('10001:10001');
    expect(service.tmpfs?.map((line) => line.split(':')[0])).toEqual(['/tmp']);
    const ofTrial = 'receiver' in compose.services ? { 'webhook-dispatcher': ['trial:/trial:ro'] } : {};
    const ofNotices = 'notifier' in compose.services && {
      ...{ 'webhook-dispatcher': ['notices:/notices:ro'], notifier: ['notices:/notices:ro'] },
      ...{ single: ['notices:/notices:ro'], 'notices-certificate': ['notices:/app/volume'] },
    };
    const volumes: Record<string, string[]> = {
      ...{ 'edge-configuration': ['edge-configuration:/app/volume'], ...ofTrial, ...ofNotices },
    };
    const isTrial = name === 'receiver' || name.startsWith('trial');
    expect(service.volumes ?? []).toEqual(isTrial ? ['trial:/app/volume'] : (volumes[name] ?? []));
  });

  test.each(selected((service) => !isJob(service)))(
    '%s restarts after a failure, and has a health check',
    (_, service) => {
      expect(service.restart).toBe('unless-stopped');
      expect(service.healthcheck?.test?.[0]).toBe('CMD');
      expect(service.stop_grace_period).toMatch(/^(30s|2m)$/);
    },
  );

  test.each(services)('%s waits only for conditions that can be met', (_, { depends_on: waits = {} }) => {
    for (const [name, { condition }] of Object.entries(waits)) {
      const other = compose.services[name];
      expect(other).toBeDefined();
      expect(condition).toBe(isJob(other!) ? 'service_completed_successfully' : 'service_healthy');
    }
  });

  test('migrates the schema of each service, with its own role, before that service starts', () => {
    for (const name of serviceNames) {
      const migration = compose.services[`migrate-${name}`]!;
      const { single: process = compose.services[name]! } = compose.services;
      const { environment: told = {} } = process;
      expect(migration.command).toEqual(['node', 'packages/messaging/src/schema/migrate.ts', name]);
      expect(migration.image).toBe(process.image);
      const address = told[`${settingPrefix(name)}DATABASE_URL`] ?? told['DATABASE_URL'];
      expect(migration.environment?.['DATABASE_URL']).toBe(address);
      expect(migration.depends_on).toEqual({ database: { condition: 'service_completed_successfully' } });
      expect(process.depends_on).toHaveProperty(`migrate-${name}`);
    }
    const addresses = serviceNames.map((name) => compose.services[name]!.environment?.['DATABASE_URL']);
    expect(new Set(addresses).size).toBe(serviceNames.length);
  });

  test('opens the port of the edge to the machine, those of TLS to everyone, and no others', () => {
    const open = Object.fromEntries(
      selected(({ ports, profiles }) => ports !== undefined && !profiles?.includes('console')).map(
        ([name, { ports }]) => [name, ports],
      ),
    );
    const forAll = 'tls' in compose.services && { tls: ['0.0.0.0:80:8080', '0.0.0.0:443:8443'] };
    const forTrial = 'receiver' in compose.services && { receiver: ['127.0.0.1:8081:8080'] };
    expect(open).toEqual({ edge: ['127.0.0.1:8080:8080'], ...forAll, ...forTrial });
  });

  test('calls other services by their names, on a shared network', () => {
    for (const [name, service] of services) {
      for (const [setting, value] of Object.entries(service.environment ?? {})) {
        // Addresses outside the network.
        if (['PUBLIC_BASE_URL', 'TLS_ACME_DIRECTORY'].includes(setting)) continue;
        const host = /^\w+:\/\/(?:[^@/]*@)?([a-z-]+):\d+/.exec(value)?.[1];
        if (host === undefined) continue;
        expect(Object.keys(compose.services)).toContain(host);
        const shared = Object.keys(service.networks ?? {}).filter(
          (network) => network in (compose.services[host]!.networks ?? {}),
        );
        expect({ name, host, shared }).toEqual({ name, host, shared: expect.arrayContaining([expect.any(String)]) });
      }
    }
  });
});

test('by default, only services that call receivers or nodes have outbound access, and only the edge is reachable from the machine', () => {
  const on = (network: string) =>
    Object.entries(whole.services)
      .filter(([, { networks = {} }]) => network in networks)
      .map(([name]) => name);
  expect(on('egress')).toEqual(['chain-watcher', 'webhook-dispatcher']);
  expect(on('public')).toEqual(['edge']);
  expect(on('console')).toEqual(['console']);
  expect(whole.services['console']!.ports).toEqual(['127.0.0.1:8090:8080']);
  expect(on('edge')).toEqual(['edge', 'api-gateway']);
  expect(on('chain')).toEqual(['chain-watcher', 'test-token', 'anvil']);
  const open = Object.entries(whole.networks).filter(([, network]) => network?.internal !== true);
  expect(open.map(([name]) => name)).toEqual(['public', 'console', 'egress']);
});

describe('docker-compose.external.yml', () => {
  const compose = readCompose([base, external], elsewhere);
  const bundled = Object.keys(compose.services).filter((name) => compose.services[name]!.profiles?.[0] !== undefined);

  test('starts no PostgreSQL, RabbitMQ or chain unless a profile enables it, and waits for none', () => {
    expect(bundled.sort()).toEqual(['anvil', 'console', 'ops', 'postgres', 'rabbitmq', 'test-token']);
    for (const { profiles, depends_on: waits = {} } of Object.values(compose.services)) {
      const needed = Object.keys(waits).filter((name) => waits[name]!.required !== false && bundled.includes(name));
      // Services with the same profile start together.
      expect(needed.filter((name) => compose.services[name]!.profiles?.[0] !== profiles?.[0])).toEqual([]);
    }
  });

  test('gives each client of PostgreSQL or RabbitMQ the given ones, and access to them', () => {
    const { services } = readCompose([base, external, notices], elsewhere);
    const clients = Object.entries(services).filter(
      ([, { environment: env = {} }]) => 'DATABASE_URL' in env || 'AMQP_URL' in env || 'POSTGRES_ADMIN_URL' in env,
    );
    // Services, the notifier and their migrations, the two jobs of the backends, and `ops`.
    expect(clients).toHaveLength(2 * (serviceNames.length + 1) + 3);
    for (const [, { environment: env = {}, networks }] of clients) {
      expect(env['DATABASE_URL'] ?? '@database.example:5432/').toContain('@database.example:5432/');
      expect(env['AMQP_URL'] ?? elsewhere.AMQP_URL).toBe(elsewhere.AMQP_URL);
      expect(networks).toHaveProperty('egress');
    }
  });
});

describe('the identity of each process', () => {
  const identities = (compose: Compose) =>
    serviceNames
      .map((name) => compose.services[name]!.environment!)
      .map(({ SIGNING_KEY, AMQP_URL }) => ({ SIGNING_KEY, AMQP_URL }));
  const distinct = (values: unknown[]) => new Set(values).size;

  test('is a unique key, and its own RabbitMQ user', () => {
    const told = identities(whole);
    expect(distinct(told.map(({ SIGNING_KEY }) => SIGNING_KEY))).toBe(serviceNames.length);
    expect(told.map(({ AMQP_URL }) => new URL(AMQP_URL!).username)).toEqual(serviceNames);
    expect(distinct(told.map(({ AMQP_URL }) => new URL(AMQP_URL!).password))).toBe(serviceNames.length);
    const ops = whole.services['ops']!.environment!;
    expect(new URL(ops['AMQP_URL']!).username).toBe('operator');
    expect(told.map(({ SIGNING_KEY }) => SIGNING_KEY)).not.toContain(ops['SIGNING_KEY']);
  });

  test('uses its own user also with an external RabbitMQ, unless one user for all is given', () => {
    const place = {
      RABBITMQ_ADDRESS: 'broker.example:5671/pay',
      RABBITMQ_SCHEME: 'amqps',
      RABBITMQ_ADMIN_URL: 'amqps://a:b@broker.example/pay',
    };
    const own = identities(readCompose([base, external], { ...environment, ...place }));
    expect(own.map(({ AMQP_URL }) => new URL(AMQP_URL!).username)).toEqual(serviceNames);
    expect(
      own.every(({ AMQP_URL }) => AMQP_URL!.startsWith('amqps://') && AMQP_URL!.endsWith('@broker.example:5671/pay')),
    ).toBe(true);
    const nodes = { ...place, RABBITMQ_ADDRESS: 'a.example:5671,b.example:5671/pay' };
    const [first] = identities(readCompose([base, external], { ...environment, ...nodes }));
    expect(parseAmqpUrls(first!.AMQP_URL!).map((url) => new URL(url).host)).toEqual([
      'a.example:5671',
      'b.example:5671',
    ]);
    expect(distinct(identities(readCompose([base, external], elsewhere)).map(({ AMQP_URL }) => AMQP_URL))).toBe(1);
  });

  test('is prepared before the services start: exchanges, queues and users', () => {
    for (const name of serviceNames)
      expect(whole.services[name]!.depends_on).toMatchObject({
        broker: { condition: 'service_completed_successfully' },
      });
  });
});

describe('docker-compose.single.yml', () => {
  const files = [base, external, tls, alerts, single];
  const { services } = readCompose(files, environment);
  const process = services['single']!;

  test('runs none of the five as its own process, and nothing waits for one', () => {
    expect(serviceNames.map((name) => services[name]!.profiles)).toEqual(serviceNames.map(() => ['separate']));
    const waits = Object.entries(services)
      .filter(([, { profiles }]) => profiles?.[0] !== 'separate')
      .flatMap(([, { depends_on: needs = {} }]) => Object.entries(needs));
    const vain = waits.filter(([name, { required }]) => serviceNames.some((one) => one === name) && required !== false);
    expect(vain).toEqual([]);
    const images = Object.values(services).filter(({ profiles }) => profiles?.[0] !== 'separate');
    const ours = new Set(images.filter(isOurs).map(({ image }) => /\/([a-z-]+):/.exec(image!)![1]));
    expect([...ours].sort()).toEqual(['console', 'setup', 'single']);
  });

  test('is on every network of the five, at the address of the gateway', () => {
    const gateway = services['api-gateway']!.networks!['edge'];
    expect(process.networks).toMatchObject({ edge: gateway });
    const networks = serviceNames.flatMap((name) => Object.keys(whole.services[name]!.networks ?? {}));
    expect(Object.keys(process.networks!).sort()).toEqual([...new Set(networks)].sort());
  });

  test('has health checks for each of the five at its port, which operators and Prometheus also use', () => {
    const ports = serviceNames.map((name) => process.environment![`${settingPrefix(name)}PORT`]!);
    expect(new Set(ports).size).toBe(serviceNames.length);
    expect(process.healthcheck!.test).toEqual(['CMD', 'node', 'infra/docker/healthcheck.ts', '/readyz', ...ports]);
    const urls = serviceNames.map((name, position) => [
      `${settingPrefix(name)}URL`,
      `http://single:${String(ports[position])}`,
    ]);
    for (const name of ['ops', 'console']) expect(services[name]!.environment).toMatchObject(Object.fromEntries(urls));
    for (const port of ports) expect(composeText('infra/observability/prometheus.yml')).toContain(`single:${port}`);
  });
});

describe('docker-compose.trial.yml', () => {
  const { services, networks } = readCompose([base, trial], environment);

  test('allows webhooks to its receiver, and reaches nothing outside', () => {
    expect(networks['trial']).toMatchObject({ internal: true });
    expect(services['receiver']!.networks).toMatchObject({ trial: { ipv4_address: '10.213.252.10' } });
    expect(services['trial-merchant']!.environment!['RECEIVER_ADDRESS']).toBe('10.213.252.10:8443');
    expect(services['webhook-dispatcher']!.networks).toHaveProperty('trial');
    expect(services['webhook-dispatcher']!.command!.at(-1)).toMatch(/ exec node main\.ts$/);
    expect(Object.keys(services['trial']!.networks!)).not.toContain('egress');
  });
});

describe('docker-compose.tls.yml', () => {
  const { services, configs } = readCompose([base, external, tls], environment);

  test('makes the edge trust only its proxy, at the proxy’s address', () => {
    const address = { ipv4_address: '10.213.251.250' };
    expect(services['tls']!.networks).toEqual({ public: address });
    expect(services['edge-configuration']!.environment!['EDGE_TRUSTED_PROXIES']).toBe(address.ipv4_address);
  });

  test('gives the proxy what its configuration needs', () => {
    const text = readFileSync(join(repositoryRoot, configs['caddy']!.file), 'utf8');
    const asked = [...text.matchAll(/\{\$([A-Z_]+)\}/g)].map(([, name = '']) => name);
    expect(asked.length).toBeGreaterThan(2);
    expect(Object.keys(services['tls']!.environment!)).toEqual(expect.arrayContaining(asked));
    // Ports inside the container, as published.
    expect(text).toContain('http_port {$TLS_HTTP_PORT:8080}');
    expect(text).toContain('https_port {$TLS_HTTPS_PORT:8443}');
  });
});

test('PostgreSQL of compose logs no parameters, which hold what merchants sent', () => {
  expect(whole.services['postgres']!.command).toContain('log_parameter_max_length=0');
});

test('the test chain of compose is the one of the local stack', () => {
  const file = join(repositoryRoot, environment['NETWORKS_FILE']!);
  const { rpc_url: rpcUrl, ...chain } = {
    network: 'local',
    rpc_url: 'http://anvil:8545',
    chain_id: 31_337,
    token: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    decimals: 6,
    payer_address: '',
    payer_private_key: '',
  };
  const network = localNetwork({ ...chain, rpc_url: rpcUrl });
  // A customer's wallet does not reach the containers' network.
  delete network.wallet_chain?.rpc_url;
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([network]);
  expect(whole.services['anvil']!.command).toContain(`--chain-id=${chain.chain_id}`);
});

describe('.env', () => {
  test('has every variable that the compose files use, and no others', () => {
    const example = parseEnv(exampleText);
    // Compose itself reads the first ones; USER is the user who runs the command.
    const known = [
      'COMPOSE_PROFILES',
      ...variablesIn([base, external, tls, trial, ...singleWithNotices].map(composeText).join('')),
    ];
    expect(Object.keys(example).sort()).toEqual([...new Set(known)].filter((name) => name !== 'USER').sort());
  });

  test('is created with unique secrets', () => {
    const random = Object.entries(parseEnv(exampleText))
      .filter(([, value]) => value === '<random>')
      .map(([name]) => name);
    const other = makeEnvironment();
    const values = random.flatMap((name) => [environment[name]!, other[name]!]);
    expect(new Set(values).size).toBe(2 * random.length);
    for (const value of values) expect(value).toMatch(/^([0-9a-f]{64}|[A-Za-z0-9+/]{43}=)$/);
    expect(Object.values(environment)).not.toContain('<random>');
  });

  test('is required: without its secrets nothing starts', () => {
    expect(() => readCompose([base], {})).toThrow('must be set');
  });
});

test('the local stack and the tests use the same container images of PostgreSQL, RabbitMQ and nginx', () => {
  const versions = (name: string): string => whole.services[name]!.image!.replace(/@.*/, '');
  expect(images).toEqual({ postgres: versions('postgres'), rabbitmq: versions('rabbitmq'), nginx: versions('edge') });
});
