import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

/** What nginx shall do. Addresses are host:port. */
export type NginxPlan = {
  /** Absolute; nginx keeps its pid and temporary files there. */
  directory: string;
  /** Whom workers run as; only for a master that runs as root. */
  user?: { name: string; group: string };
  edge: {
    listen: string;
    gateway: string[];
    /**
     * Addresses and networks (see isNetwork) of the proxies in front of the edge. What they say in X-Forwarded-For and
     * X-Forwarded-Proto is believed; of all others both are ignored. None unless given.
     */
    trustedProxies?: string[];
  };
  /** One for each service that has several replicas. */
  balancers?: { name: string; listen: string; replicas: string[] }[];
};

/**
 * The whole nginx.conf of a plan, from the templates next to this file.
 * @throws Error when a template names something that is not given, or a value could break out of its place.
 */
export function renderNginx({ directory, user, edge, balancers = [] }: NginxPlan): string {
  const servers = [
    fill('edge', { listen: edge.listen }, { replicas: upstreamServers(edge.gateway), ...trust(edge.trustedProxies) }),
    ...balancers.map(({ name, listen, replicas }) =>
      fill('balancer', { name: name.replaceAll('-', '_'), listen }, { replicas: upstreamServers(replicas) }),
    ),
  ];
  const directives = {
    user: user ? `user ${plain(user.name)} ${plain(user.group)};` : '',
    servers: servers.map(indent).join('\n'),
  };
  return fill('main', { directory }, directives);
}

/**
 * Whether the text is an IPv4 or IPv6 address or, with a prefix length, a network, such as 10.0.0.0/8. The network of all
 * addresses is none: to trust it would let every client choose its address.
 */
export function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/%]*)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(prefix ?? 1) <= (version === 4 ? 32 : 128);
}

function trust(proxies: string[] = []): { trusted_peers: string; real_ip_from: string } {
  const stranger = proxies.find((proxy) => !isNetwork(proxy));
  if (stranger !== undefined) throw new Error(`"${stranger}" is no address or network of a trusted proxy`);
  return {
    trusted_peers: proxies.map((proxy) => `  ${proxy} 1;`).join('\n'),
    real_ip_from: proxies.map((proxy) => `  set_real_ip_from ${proxy};`).join('\n'),
  };
}

/**
 * A replica that fails twice is left alone for two seconds. nginx does not notice when one is back before that, and with none left
 * it would refuse for as long; so all of them are named once more as backups that are never left alone. In a rolling restart that is
 * the moment at which the last replica to be restarted ends.
 */
function upstreamServers(addresses: string[]): string {
  if (addresses.length === 0) throw new Error('An upstream needs at least one address');
  const servers = addresses.map((address) => `  server ${plain(address)} max_fails=2 fail_timeout=2s;`);
  const backups = addresses.map((address) => `  server ${plain(address)} max_fails=0 backup;`);
  // A lone server is never left alone anyway.
  return [...servers, ...(addresses.length > 1 ? backups : [])].join('\n');
}

/** @param directives are ready for nginx; of the values, each is one word of a directive. */
function fill(template: string, values: Record<string, string>, directives: Record<string, string>): string {
  const text = readFileSync(new URL(`${template}.conf.template`, import.meta.url), 'utf8');
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    const filled = value === undefined ? directives[name] : plain(value);
    if (filled === undefined) throw new Error(`${template}.conf.template asks for ${name}, which is not given`);
    return filled;
  });
}

/** Anything that could end a directive or begin a variable has no business in a path, a name or an address. */
function plain(value: string): string {
  if (/["'\\;{}$\n]/.test(value)) throw new Error(`nginx cannot be given ${JSON.stringify(value)}`);
  return value;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
