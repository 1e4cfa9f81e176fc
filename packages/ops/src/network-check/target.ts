import { existsSync, readFileSync } from 'node:fs';
import { readNetworks, type ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Network, RpcEndpoint } from '@quittance/contracts/networks.ts';
import { Failure } from '../failure.ts';

/** What the command line says in place of the file. */
export type Given = {
  urls: readonly string[];
  headers: Record<string, string>;
  wsUrl: string | null;
  /** Of every endpoint. */
  plan: Pick<RpcEndpoint, 'requests_per_second' | 'requests_per_day' | 'units_per_day' | 'unit_prices'>;
};

/** A network to be checked, and its entry as written, keys still in their variables. */
export type Target = { network: ChainNetwork; entry: Network };

/**
 * The networks that a word of the command line names: all that are switched on in a file, or the one with this id in the networks file.
 * @param networksFile where networks are looked up by id; `environment` fills in the `${NAME}` of URLs and headers.
 * @throws Failure `wrongUse` for what is none, has no endpoint, or is no networks file.
 */
export function findTargets(
  fileOrNetwork: string,
  given: Given,
  { networksFile, environment }: { networksFile: string; environment: NodeJS.ProcessEnv },
): Target[] {
  const isFile = existsSync(fileOrNetwork);
  if (!isFile && /[./]/.test(fileOrNetwork)) throw new Failure('wrongUse', `${fileOrNetwork} does not exist.`);
  const all = readEntries(isFile ? fileOrNetwork : networksFile);
  const chosen = isFile ? all : all.filter(({ id }) => id === fileOrNetwork);
  if (chosen.length === 0) {
    const known = all.map(({ id }) => id).join(', ');
    throw new Failure('wrongUse', `There is no network ${fileOrNetwork}, only: ${known}.`);
  }
  const entries = (given.urls.length === 0 ? chosen : [withEndpoints(chosen, given)]).map((entry) =>
    withPlan(entry, given),
  );
  const enabled = entries.filter(({ rpc_urls: urls }) => urls.length > 0);
  if (enabled.length === 0)
    throw new Failure('wrongUse', `${fileOrNetwork} has no endpoint to check: name one with --url.`);
  try {
    const networks = readNetworks(enabled, environment);
    return networks.map((network, position) => ({
      network,
      entry: enabled[position] as Network,
    }));
  } catch (error) {
    throw new Failure('wrongUse', error instanceof Error ? error.message : String(error));
  }
}

/** An endpoint as an object, whose fields may be added to. */
const detailed = (endpoint: string | RpcEndpoint): RpcEndpoint =>
  typeof endpoint === 'string' ? { url: endpoint } : endpoint;

const withPlan = (entry: Network, { plan }: Given): Network =>
  Object.keys(plan).length === 0
    ? entry
    : { ...entry, rpc_urls: entry.rpc_urls.map((endpoint) => ({ ...detailed(endpoint), ...plan })) };

/** What a parser says about a file quotes it, and it may hold keys. */
function readEntries(file: string): Network[] {
  try {
    const entries: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (Array.isArray(entries)) return entries as Network[];
  } catch (error) {
    if (!(error instanceof SyntaxError))
      throw new Failure('wrongUse', `${file} cannot be read (${String((error as NodeJS.ErrnoException).code)}).`);
  }
  throw new Failure('wrongUse', `${file} is no networks file: it must hold a JSON list.`);
}

function withEndpoints(chosen: readonly Network[], { urls, headers, wsUrl }: Given): Network {
  const [entry, ...others] = chosen;
  if (entry === undefined || others.length > 0)
    throw new Failure('wrongUse', '--url needs one network: give its id in place of a file.');
  const endpoints = urls.map((url, position): RpcEndpoint => ({
    url,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(position === 0 && wsUrl !== null && { ws_url: wsUrl }),
  }));
  return { ...entry, rpc_urls: endpoints };
}

/**
 * The entry for the networks file, with what was found out. Whatever may hold a key is left to a variable, save where it is one already.
 * @param maxBlockRange what the endpoints allow; null to keep what the entry says.
 * @returns the entry, and which variable holds what.
 */
export function readyEntry(
  { entry }: Target,
  maxBlockRange: number | null,
): { entry: Network; variables: Record<string, string> } {
  const prefix = `${entry.id.toUpperCase().replaceAll('-', '_')}_RPC`;
  const variables: Record<string, string> = {};
  const kept = (text: string, name: string, what: string): string => {
    if (/^\$\{[^}]+\}$/.test(text)) return text;
    variables[name] = what;
    return `\${${name}}`;
  };
  const endpoints = entry.rpc_urls.map((one, position): RpcEndpoint => {
    const endpoint = detailed(one);
    const { headers, ws_url: wsUrl } = endpoint;
    const name = `${prefix}_${position}`;
    const of = `of endpoint ${position}`;
    return {
      ...endpoint,
      url: kept(endpoint.url, `${name}_URL`, `the URL ${of}`),
      ...(headers && {
        headers: Object.fromEntries(
          Object.entries(headers).map(([header, value]) => {
            const variable = `${name}_${header.toUpperCase().replaceAll('-', '_')}`;
            return [header, kept(value, variable, `its header ${header}`)];
          }),
        ),
      }),
      ...(wsUrl !== undefined && { ws_url: kept(wsUrl, `${name}_WS_URL`, `the WebSocket ${of}`) }),
    };
  });
  const range = maxBlockRange === null ? {} : { max_block_range: maxBlockRange };
  return { entry: { ...entry, rpc_urls: endpoints, ...range }, variables };
}
