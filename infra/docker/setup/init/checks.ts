import { Resolver } from 'node:dns/promises';
import { createConnection, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { parseAddress } from '@quittance/contracts/address.ts';
import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import type { Network } from '@quittance/contracts/networks.ts';

/** Top-level domains reserved for documents and tests: no authority signs a certificate for them. */
const reserved = /\.(?:test|example|invalid)$/;

/**
 * The name under which customers and merchants reach the server, as in a URL.
 * @throws Error when no public certificate can exist for it.
 */
export function publicHost(given: string): string {
  if (/[/:@\s]/.test(given)) throw new Error(`host "${given}": give the name alone, such as pay.example.com`);
  const check = parseEndpointUrl(`https://${given.toLowerCase()}/`);
  if (!check.ok) throw new Error(`host "${given}": ${check.reason}`);
  const { host } = check.endpoint;
  if (isIP(host) !== 0) throw new Error(`host "${given}" is an address; a certificate needs a name that leads there`);
  if (reserved.test(host)) throw new Error(`host "${given}": no authority signs a certificate for such a name`);
  return host;
}

/** @throws Error for a wallet whose money would be lost, or on which no enabled network would see a transfer. */
export function checkWallet(text: string, enabled: readonly Network[]): void {
  const wallet = parseAddress(text);
  if (wallet === null) throw new Error(`wallet ${text} is not an address: a character is wrong or missing`);
  if (/^0x0{40}$/.test(wallet.hex)) throw new Error(`wallet ${text} is the zero address: what is sent there is gone`);
  const family = enabled.filter((network) => network.family === wallet.family);
  if (family.length === 0) throw new Error(`wallet ${text} is not on any enabled network (${names(enabled)})`);
  const token = family.find(({ usdt_contract: contract }) => parseAddress(contract)?.hex === wallet.hex);
  if (token) throw new Error(`wallet ${text} is the USDT contract of ${token.id}: what is sent there is gone`);
}

const names = (networks: readonly Network[]): string => networks.map(({ id }) => id).join(', ') || 'none is';

/** Whether something listens on this port, on any address of the machine. */
export async function isPortTaken(port: number): Promise<boolean> {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const answers = await Promise.all(
    addresses.filter(({ scopeid }) => !scopeid).map(({ address }) => connects(address, port)),
  );
  return answers.includes(true);
}

function connects(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: 2_000 });
    const end = (taken: boolean) => {
      socket.destroy();
      resolve(taken);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

/**
 * Problems of the name's DNS entries that would prevent a certificate or keep customers away. They are warnings, because the entries may be
 * added later.
 */
export async function nameWarnings(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  const [four, six] = await Promise.all([
    resolver.resolve4(host).catch(() => []),
    resolver.resolve6(host).catch(() => []),
  ]);
  if (four.length === 0)
    return [`${host} has no DNS record yet: without an A record to this server it gets no certificate`];
  if (six.length === 0) return [];
  return [`${host} has an AAAA record, and the proxy of docker-compose.tls.yml listens on IPv4 only: remove it`];
}
