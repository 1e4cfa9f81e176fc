import { parseNetworks, type Network, type RpcEndpoint } from '@quittance/contracts/networks.ts';
import { endpointProblems, type GivenEndpoint } from './endpoint-line.ts';
import { withValue } from './env-file.ts';

/** The networks file, which holds no keys, and chain-watcher.env, which holds the values of its placeholders. */
export type NetworksFiles = { networks: string; keys: string; enabled: Network[]; warnings: string[] };

/**
 * Enables networks with the given endpoints, best first. Other networks stay unchanged.
 * @param file the networks file so far, or the shipped one. @param keys chain-watcher.env so far.
 * @throws Error that lists all problems.
 */
export function networksFiles(file: string, keys: string, given: readonly GivenEndpoint[]): NetworksFiles {
  const all = parsed(file);
  const ids = [...new Set(given.map(({ network }) => network))];
  const problems: string[] = [];
  const warnings: string[] = [];
  let newKeys = keys;
  for (const id of ids) {
    const network = all.find((one) => one.id === id);
    const endpoints = given.filter((one) => one.network === id);
    if (network === undefined) {
      problems.push(`no network is called "${id}"; there are ${all.map((one) => one.id).join(', ')}`);
      continue;
    }
    problems.push(...endpoints.flatMap(endpointProblems), ...twice(id, endpoints));
    warnings.push(...providerWarnings(id, endpoints));
    newKeys = withoutKeysOf(id, newKeys);
    network.rpc_urls = endpoints.map(({ endpoint }, position) => {
      const { entry, values } = withoutKeys(`${variable(id)}_RPC_${String(position)}`, endpoint);
      for (const [name, value] of Object.entries(values)) newKeys = withValue(newKeys, name, value);
      return entry;
    });
  }
  chooseDefault(all, ids);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return { networks: `${JSON.stringify(all, null, 2)}\n`, keys: newKeys, enabled: parseNetworks(all), warnings };
}

/** Checked before any change, so that a fault found here is the file's own. */
function parsed(file: string): Network[] {
  try {
    const all = JSON.parse(file) as Network[];
    parseNetworks(all);
    return all;
  } catch (error) {
    throw new Error(`the networks file is wrong already: ${(error as Error).message}`, { cause: error });
  }
}

/** Replaces the whole URL, because any part of it may be the key. */
function withoutKeys(name: string, endpoint: RpcEndpoint): { entry: RpcEndpoint; values: Record<string, string> } {
  const values: Record<string, string> = { [name]: endpoint.url };
  const entry: RpcEndpoint = { ...endpoint, url: `\${${name}}` };
  if (endpoint.ws_url !== undefined) {
    values[`${name}_WS`] = endpoint.ws_url;
    entry.ws_url = `\${${name}_WS}`;
  }
  if (endpoint.headers === undefined) return { entry, values };
  const headers = Object.entries(endpoint.headers).map(([header, value]) => {
    const own = `${name}_${variable(header)}`;
    values[own] = value;
    return [header, `\${${own}}`] as const;
  });
  return { entry: { ...entry, headers: Object.fromEntries(headers) }, values };
}

const variable = (text: string): string => text.toUpperCase().replaceAll('-', '_');

const withoutKeysOf = (id: string, keys: string): string =>
  keys.replace(new RegExp(`^${variable(id)}_RPC_\\d+(?:_\\w+)?=.*\n?`, 'gm'), '');

/**
 * For a payment that names no network, a `0x…` wallet is on the shipped default network if enabled, else on the EVM network named first.
 */
function chooseDefault(all: readonly Network[], ids: readonly string[]): void {
  const evm = all.filter(({ family, rpc_urls: urls }) => family === 'evm' && urls.length > 0);
  if (evm.length < 2 || evm.some(({ default_evm: isDefault }) => isDefault === true)) return;
  const first = evm.find(({ id }) => id === ids.find((one) => evm.some((network) => network.id === one))) ?? evm[0];
  if (first !== undefined) first.default_evm = true;
}

function twice(id: string, endpoints: readonly GivenEndpoint[]): string[] {
  const urls = new Set(endpoints.map(({ endpoint }) => endpoint.url));
  return urls.size < endpoints.length ? [`${id}: an endpoint is named twice`] : [];
}

function providerWarnings(id: string, endpoints: readonly GivenEndpoint[]): string[] {
  const hosts = endpoints.map(({ endpoint }) => URL.parse(endpoint.url)?.hostname ?? endpoint.url);
  // `eth-mainnet.g.alchemy.com` and `eth-mainnet2.g.alchemy.com` belong to one company.
  const owners = new Set(hosts.map((host) => host.split('.').slice(-2).join('.')));
  if (owners.size > 1) return [];
  return [
    `${id} has one provider only: while it is down no payment is seen, and no other provider confirms its answers. Add a second one.`,
  ];
}
