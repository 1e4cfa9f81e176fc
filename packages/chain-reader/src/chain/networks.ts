import { parseAddress } from '@quittance/contracts/address.ts';
import { parseAmount, toTokenUnits } from '@quittance/contracts/amount.ts';
import {
  agreementAboveUnits,
  crossCheckedAboveUnits,
  hasEventsOutsideBloom,
  hasProvenReceipts,
  parseNetworks,
  unitPricesOf,
  type Network,
  type RpcEndpoint,
} from '@quittance/contracts/networks.ts';
import type { DailyPlan, RpcNetwork, RpcNode } from '../rpc/network.ts';
import { bloomTest } from './bloom.ts';
import { DEPRECATE_TOPIC, TRANSFER_TOPIC } from './transfers.ts';

/** A network as the scan uses it: its entry in the networks file, and what follows from that. */
export type ChainNetwork = Omit<Network, 'rpc_urls'> &
  Required<Pick<Network, 'max_block_range' | 'asleep_poll_interval_ms'>> &
  RpcNetwork & {
    /** The USDT contract as event logs write it: 0x and 40 lowercase hex characters. */
    token: string;
    /** Whether a block may hold a transfer of the token, or its deprecation, by its header's Bloom filter. Null if headers have none. */
    mayHoldTransfer: ((bloom: string) => boolean) | null;
    /** Whether that filter covers every event of the block. */
    hasEventsInBloom: boolean;
    /** `finalized_above_amount` in base units of the token; null for no such limit. */
    finalizedAbove: bigint | null;
    /** Above this, in base units of the token, two endpoints must agree; null for no such limit. */
    agreementAbove: bigint | null;
    /** Above this, a transfer is confirmed by the cross-check alone; null for none. With proven blocks and a second endpoint, each one is. */
    crossCheckedAbove: bigint | null;
  };

const DEFAULT_MAX_BLOCK_RANGE = 2_000;
const DEFAULT_ASLEEP_POLL_INTERVAL_MS = 60_000;

/** A valid header value. A secret that was read from a file often ends with a line break, which is not allowed in one. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Reads the networks file and fills in the `${NAME}` placeholders of its URLs and headers, which keep keys out of the file. Only then can it
 * check whether an endpoint is listed twice.
 * @throws Error that lists every problem. It names variables and networks but shows no URL.
 */
export function readNetworks(json: unknown, env: NodeJS.ProcessEnv): ChainNetwork[] {
  const networks = parseNetworks(json);
  const problems: string[] = [];
  const enabled = networks.map((entry): ChainNetwork => {
    const { rpc_urls: entries, ...network } = entry;
    const before = problems.length;
    const fill = (template: string) =>
      substitute(template, env, (name) => problems.push(`${network.id}: ${name} is not set`));
    const endpoints = entries.map((node, position) => {
      const endpoint = readEndpoint(node, fill);
      const place = `${network.id}: rpc_urls[${String(position)}]`;
      if (!hasProtocol(endpoint.url, 'http:', 'https:')) problems.push(`${place} is not an http(s) URL`);
      if (endpoint.wsUrl !== null && !hasProtocol(endpoint.wsUrl, 'ws:', 'wss:'))
        problems.push(`${place}.ws_url is not a ws(s) URL`);
      for (const [name, value] of Object.entries(endpoint.headers)) {
        if (!HEADER_VALUE.test(value))
          problems.push(
            `${place}.headers: ${name} holds a character that no header can, such as a line break at its end`,
          );
      }
      return endpoint;
    });
    const isFilled = problems.length === before;
    if (isFilled && new Set(endpoints.map(({ url }) => URL.parse(url)?.href ?? url)).size < endpoints.length)
      problems.push(`${network.id}: rpc_urls name an endpoint twice`);
    const token = parseAddress(network.usdt_contract)?.hex ?? '';
    // The filter in Tron's headers is always empty.
    const mayHoldTransfer = network.family === 'tron' ? null : eventTest(token);
    const threshold = (units: bigint | null) => (units === null ? null : toTokenUnits(units, network.decimals));
    const finalized = network.finalized_above_amount;
    const asleepMs = network.asleep_poll_interval_ms ?? DEFAULT_ASLEEP_POLL_INTERVAL_MS;
    return {
      ...{ ...network, endpoints, token, mayHoldTransfer },
      max_block_range: network.max_block_range ?? DEFAULT_MAX_BLOCK_RANGE,
      asleep_poll_interval_ms: Math.max(network.poll_interval_ms, asleepMs),
      hasEventsInBloom: network.family === 'evm' && !hasEventsOutsideBloom(network),
      finalizedAbove: threshold(finalized === undefined ? null : parseAmount(finalized)),
      isProven: hasProvenReceipts(network),
      agreementAbove: threshold(agreementAboveUnits(entry)),
      crossCheckedAbove: threshold(crossCheckedAboveUnits(entry)),
    };
  });
  if (problems.length > 0) throw new Error(problems.join('; '));
  return enabled;
}

function eventTest(token: string): (bloom: string) => boolean {
  const tests = [TRANSFER_TOPIC, DEPRECATE_TOPIC].map((topic) => bloomTest(token, topic));
  return (bloom) => tests.some((mayHold) => mayHold(bloom));
}

function substitute(template: string, env: NodeJS.ProcessEnv, report: (name: string) => void): string {
  return template.replace(/\$\{([^}]*)\}/g, (_, name: string) => {
    const value = env[name];
    if (value === undefined || value === '') report(name);
    return value ?? '';
  });
}

function readEndpoint(entry: string | RpcEndpoint, fill: (template: string) => string): RpcNode {
  if (typeof entry === 'string')
    return { url: fill(entry), headers: {}, wsUrl: null, requestsPerSecond: null, dailyPlan: null };
  const { url, headers = {}, ws_url: wsUrl, requests_per_second: requestsPerSecond } = entry;
  return {
    url: fill(url),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), fill(value)])),
    wsUrl: wsUrl === undefined ? null : fill(wsUrl),
    requestsPerSecond: requestsPerSecond ?? null,
    dailyPlan: readPlan(entry),
  };
}

function readPlan(entry: RpcEndpoint): DailyPlan | null {
  const { requests_per_day: requests, units_per_day: units, unit_prices: prices, day_begins_at: begin } = entry;
  if (requests === undefined && units === undefined) return null;
  const [hours = 0, minutes = 0] = (begin ?? '00:00').split(':').map(Number);
  return {
    requestsPerDay: requests ?? null,
    unitsPerDay: units ?? null,
    unitPrices: prices === undefined ? null : unitPricesOf(prices),
    beginsAtMinute: 60 * hours + minutes,
  };
}

function hasProtocol(text: string, ...protocols: string[]): boolean {
  const url = URL.parse(text);
  return url !== null && protocols.includes(url.protocol) && isDecodable(url.username + url.password);
}

/** A password with a bare % in it cannot be sent. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
