import { parseAddress } from '@quittance/contracts/address.ts';
import { parseNetworks, type Network } from '@quittance/contracts/networks.ts';
import { bloomTest } from './chain/bloom.ts';
import { TRANSFER_TOPIC } from './transfers.ts';

/** A network as the scanning sees it: the file's entry and what follows from it. */
export type ChainNetwork = Network & {
  /** The USDT contract as event logs write it: 0x and 40 lowercase hex characters. */
  token: string;
  /** Whether a block may hold a transfer of the token, by its header's Bloom filter. Null where headers carry none. */
  mayHoldTransfer: ((bloom: string) => boolean) | null;
};

/**
 * Reads the networks file and fills in the `${NAME}` placeholders of its URLs, which keep keys out of the file.
 * @throws Error that lists every problem; it names variables and networks but shows no URL.
 */
export function readNetworks(json: unknown, env: NodeJS.ProcessEnv): ChainNetwork[] {
  const networks = parseNetworks(json);
  const problems: string[] = [];
  const enabled = networks.map((network): ChainNetwork => {
    const rpcUrls = network.rpc_urls.map((template, position) => {
      const url = substitute(template, env, (name) => problems.push(`${network.id}: ${name} is not set`));
      if (!isHttpUrl(url)) problems.push(`${network.id}: rpc_urls[${String(position)}] is no http(s) URL`);
      return url;
    });
    const token = parseAddress(network.usdt_contract)?.hex ?? '';
    // Tron's headers carry an empty filter whatever the block holds.
    const mayHoldTransfer = network.family === 'tron' ? null : bloomTest(token, TRANSFER_TOPIC);
    return { ...network, rpc_urls: rpcUrls, token, mayHoldTransfer };
  });
  if (problems.length > 0) throw new Error(problems.join('; '));
  return enabled;
}

function substitute(template: string, env: NodeJS.ProcessEnv, report: (name: string) => void): string {
  return template.replace(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_, name: string) => {
    const value = env[name];
    if (value === undefined || value === '') report(name);
    return value ?? '';
  });
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}
