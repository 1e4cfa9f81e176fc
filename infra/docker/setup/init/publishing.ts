import { isIPv4 } from 'node:net';
import { parseEnv } from 'node:util';
import { isPortTaken } from './checks.ts';
import type { Options } from './options.ts';

/** The options for addresses and ports of the machine, each with its setting in .env. */
const settings = {
  edge: 'EDGE_PUBLISH',
  console: 'CONSOLE_PUBLISH',
  receiver: 'TRIAL_PUBLISH',
  tlsAddress: 'TLS_PUBLISH',
  httpPort: 'TLS_HTTP_PUBLISH_PORT',
  httpsPort: 'TLS_HTTPS_PUBLISH_PORT',
} as const;

type Name = keyof typeof settings;
const names = Object.keys(settings) as Name[];
const optionOf = (name: Name): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** @returns the settings that these options change. @throws Error naming the option that is wrong. */
export function publishedValues(options: Options): Record<string, string> {
  const given = names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]] as const]));
  for (const [name, value] of given)
    if (!isWellFormed(name, value)) throw new Error(`${optionOf(name)} ${value}: ${forms[name]}`);
  if (options.ownProxy && options.edge !== undefined && !options.edge.startsWith('127.'))
    throw new Error(
      `--edge ${options.edge}: with --own-proxy it must begin with 127., because others that reach it could forge their address`,
    );
  return {
    ...Object.fromEntries(given.map(([name, value]) => [settings[name], value])),
    // The links of a trial lead to the edge itself.
    ...(options.trial && options.edge !== undefined && { PUBLIC_BASE_URL: `http://localhost:${portIn(options.edge)}` }),
  };
}

const addressAndPort = 'give an IPv4 address of this machine and a port, such as 127.0.0.1:8088';
const portAlone = 'give a port, 1 to 65535';
const forms: Record<Name, string> = {
  edge: addressAndPort,
  console: addressAndPort,
  receiver: addressAndPort,
  tlsAddress: 'give an IPv4 address of this machine, or 0.0.0.0 for all of them',
  httpPort: portAlone,
  httpsPort: portAlone,
};

function isWellFormed(name: Name, value: string): boolean {
  if (name === 'tlsAddress') return isIPv4(value);
  if (name === 'httpPort' || name === 'httpsPort') return isPort(value);
  const [address = '', port = '', ...rest] = value.split(':');
  return isIPv4(address) && isPort(port) && rest.length === 0;
}

const isPort = (text: string): boolean => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;
const portIn = (published: string): number => Number(/\d+$/.exec(published)?.[0]);

/**
 * Ports that two containers would want, or that something else has. Only ports that are new in this .env can be taken, because the running
 * deployment uses those of the earlier one.
 */
export async function portProblems(environment: string, earlier: string | null): Promise<string[]> {
  const now = portsOf(environment);
  const before = earlier === null ? [] : portsOf(earlier).map(({ port }) => port);
  const twice = now.filter(({ port }, position) => now.findIndex((one) => one.port === port) !== position);
  const fresh = now.filter(({ port }) => !before.includes(port));
  const taken = await Promise.all(fresh.map(({ port }) => isPortTaken(port)));
  return [
    ...twice.map(({ port, name }) => `port ${String(port)} is used twice: choose another with ${optionOf(name)}`),
    ...fresh
      .filter((_, position) => taken[position])
      .map(
        ({ port, name }) => `port ${String(port)} is taken: stop what listens there (ss -ltnp shows it)${hint(name)}`,
      ),
  ];
}

const hint = (name: Name): string =>
  name === 'httpPort' || name === 'httpsPort'
    ? `, choose another with ${optionOf(name)}, or leave TLS to it by --own-proxy`
    : `, or choose another with ${optionOf(name)}`;

const defaults: Record<Exclude<Name, 'tlsAddress'>, string> = {
  edge: '8080',
  console: '8090',
  receiver: '8081',
  httpPort: '80',
  httpsPort: '443',
};

function portsOf(environment: string): { port: number; name: Name }[] {
  const values = parseEnv(environment);
  const { COMPOSE_FILE: files = '', COMPOSE_PROFILES: profiles = '' } = values;
  const published = (['edge', 'console', 'receiver', 'httpPort', 'httpsPort'] as const).filter(
    (name) =>
      name === 'edge' ||
      (name === 'console' && profiles.split(',').includes('console')) ||
      (name === 'receiver' && files.includes('docker-compose.trial.yml')) ||
      (name.startsWith('http') && files.includes('docker-compose.tls.yml')),
  );
  return published.map((name) => ({ port: portIn(values[settings[name]] || defaults[name]), name }));
}
