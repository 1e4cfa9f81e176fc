import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

/** What nginx does. Addresses are host:port. */
export type NginxPlan = {
  /** Absolute path; nginx keeps its pid and temporary files there. */
  directory: string;
  /** The user of the workers; only for a master that runs as root. */
  user?: { name: string; group: string };
  edge: {
    listen: string;
    gateway: string[];
    /**
     * Addresses and networks (see isNetwork) of the proxies in front of the edge. Their X-Forwarded-For and X-Forwarded-Proto are trusted;
     * from all other addresses both are ignored. Default: none.
     */
    trustedProxies?: string[];
  };
  /** One for each service that has several replicas. */
  balancers?: { name: string; listen: string; replicas: string[] }[];
};

/**
 * The complete nginx.conf of a plan, from the templates in this folder.
 * @throws Error when a template needs a value that is not given, or a value could break the syntax.
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
 * Whether the text is an IPv4 or IPv6 address or, with a prefix length, a network, such as 10.0.0.0/8. The network of all addresses is
 * refused: trusting it would let every client choose its address.
 */
export function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/%]*)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(prefix ?? 1) <= (version === 4 ? 32 : 128);
}

function trust(proxies: string[] = []): { trusted_peers: string; real_ip_from: string } {
  const stranger = proxies.find((proxy) => !isNetwork(proxy));
  if (stranger !== undefined) throw new Error(`"${stranger}" is not an address or network of a trusted proxy`);
  return {
    trusted_peers: proxies.map((proxy) => `  ${proxy} 1;`).join('\n'),
    real_ip_from: proxies.map((proxy) => `  set_real_ip_from ${proxy};`).join('\n'),
  };
}

/**
 * nginx does not use a replica for two seconds after two failures, even if it is back sooner, and with none left it would refuse requests
 * for as long. So all replicas are listed a second time as backups that are always tried. This happens in a rolling restart, when the last
 * replica restarts.
 */
function upstreamServers(addresses: string[]): string {
  if (addresses.length === 0) throw new Error('An upstream needs at least one address');
  const servers = addresses.map((address) => `  server ${plain(address)} max_fails=2 fail_timeout=2s;`);
  const backups = addresses.map((address) => `  server ${plain(address)} max_fails=0 backup;`);
  // nginx always uses a server that is the only one.
  return [...servers, ...(addresses.length > 1 ? backups : [])].join('\n');
}

/** @param values each becomes one word of a directive. @param directives are complete nginx directives. */
function fill(template: string, values: Record<string, string>, directives: Record<string, string>): string {
  const text = readFileSync(new URL(`${template}.conf.template`, import.meta.url), 'utf8');
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    const filled = value === undefined ? directives[name] : plain(value);
    if (filled === undefined) throw new Error(`${template}.conf.template needs ${name}, which is not given`);
    return filled;
  });
}

/** A path, a name or an address may not contain a character that could end a directive or begin a variable. */
function plain(value: string): string {
  if (/["'\\;{}$\n]/.test(value)) throw new Error(`nginx cannot be given ${JSON.stringify(value)}`);
  return value;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
