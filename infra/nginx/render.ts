import { readFileSync } from 'node:fs';

/** What nginx shall do. Addresses are host:port. */
export type NginxPlan = {
  /** Absolute; nginx keeps its pid and temporary files there. */
  directory: string;
  /** Whom workers run as; only for a master that runs as root. */
  user?: { name: string; group: string };
  edge: { listen: string; gateway: string[] };
  /** One for each service that has several replicas. */
  balancers?: { name: string; listen: string; replicas: string[] }[];
};

/**
 * The whole nginx.conf of a plan, from the templates beside this file.
 * @throws Error when a template names something that is not given, or a value could break out of its place.
 */
export function renderNginx({ directory, user, edge, balancers = [] }: NginxPlan): string {
  const servers = [
    fill('edge', { listen: edge.listen, replicas: upstreamServers(edge.gateway) }),
    ...balancers.map(({ name, listen, replicas }) =>
      fill('balancer', { name: name.replaceAll('-', '_'), listen, replicas: upstreamServers(replicas) }),
    ),
  ];
  return fill('main', {
    directory,
    user: user ? `user ${user.name} ${user.group};` : '',
    servers: servers.map(indent).join('\n'),
  });
}

/** A replica that fails twice is left alone for two seconds; with none left, nginx tries them all again. */
function upstreamServers(addresses: string[]): string {
  if (addresses.length === 0) throw new Error('An upstream needs at least one address');
  return addresses.map((address) => `  server ${plain(address)} max_fails=2 fail_timeout=2s;`).join('\n');
}

function fill(template: string, values: Record<string, string>): string {
  const text = readFileSync(new URL(`${template}.conf.template`, import.meta.url), 'utf8');
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${template}.conf.template asks for ${name}, which is not given`);
    return name === 'servers' || name === 'replicas' || name === 'user' ? value : plain(value);
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
