import { InvalidArgumentError, type Command } from 'commander';
import { count, reads } from '../command.ts';
import { priceLists, type UnitPrices } from '@quittance/contracts/price-lists.ts';
import type { JsonOption, Ops } from '../command.ts';
import { Failure } from '../failure.ts';
import { note, printResult } from '../output.ts';
import type { Given } from '../network-check/target.ts';
import { networkReportsView } from '../views/network.ts';

type CheckOptions = JsonOption & {
  url: string[];
  wsUrl?: string;
  header: Record<string, string>;
  requestsPerDay?: number;
  unitsPerDay?: number;
  unitPrices?: string | UnitPrices;
  requestsPerSecond?: number;
  timeout: number;
};

export function networkCommands(program: Command, ops: Ops): void {
  const network = program.command('network').description('whether a provider is good enough to depend on');
  check(network, ops);
}

function check(network: Command, { config }: Ops): void {
  reads(network.command('check'))
    .description('ask endpoints all that chain-watcher would ask; needs no running service and stores nothing')
    .argument('<file or network>', 'a networks file, or an id of the one in NETWORKS_FILE, else of the shipped one')
    .option('--url <url>', 'an endpoint in place of those of the file; may be repeated', collect, [])
    .option('--header <header>', 'an HTTP header for them, "Name: value"; may be repeated', collectHeader, {})
    .option('--ws-url <url>', 'the WebSocket of the first of them')
    .option('--requests-per-day <number>', 'what the plan allows', positive)
    .option('--units-per-day <number>', "what it allows in the provider's units", positive)
    .option(
      '--unit-prices <list>',
      `what a call takes of them: ${Object.keys(priceLists).join(', ')}, or such as default=20,eth_getLogs=60`,
      priceList,
    )
    .option('--requests-per-second <number>', 'what it allows in a second; also slows this command down', positive)
    .option('--timeout <seconds>', 'deadline of one request', positive, 20)
    .addHelpText('after', "\nKeys belong into variables: --url '${MY_RPC_URL}' is filled in from the environment.")
    .action(async (target: string, options: CheckOptions) => {
      // Loaded only here: the other commands need no chain library.
      const { findTargets } = await import('../network-check/target.ts');
      const { checkNetwork } = await import('../network-check/report.ts');
      const reports = [];
      for (const found of findTargets(target, givenIn(options), config)) {
        const { id } = found.network;
        const onProgress = (endpoint: number, what: string) => note(`${id}, endpoint ${endpoint}: ${what} …`, options);
        reports.push(await checkNetwork(found, { timeoutMs: 1000 * options.timeout, onProgress }));
      }
      printResult(reports, options, networkReportsView);
      const bad = reports.flatMap(({ network: id, endpoints }) =>
        endpoints.filter(({ usable }) => !usable).map(({ endpoint }) => `endpoint ${endpoint} of ${id}`),
      );
      if (bad.length > 0) throw new Failure('refused', `Do not depend on ${bad.join(' or ')}: see what failed.`);
    });
}

const positive = (text: string): number => {
  const number = count(text);
  if (number > 0) return number;
  throw new InvalidArgumentError('expected a whole number, 1 or more.');
};

/** The name of a list is looked up with the entry. */
const priceList = (text: string): string | UnitPrices => {
  if (/^\w+$/.test(text)) return text;
  const entries = text.split(',').map((entry) => /^(\w+)=(\d{1,7})$/.exec(entry.trim()));
  const prices = Object.fromEntries(entries.map((entry): [string, number] => [entry?.[1] ?? '', Number(entry?.[2])]));
  const { default: other } = prices;
  if (entries.includes(null) || other === undefined)
    throw new InvalidArgumentError('expected the name of a list, or such as default=20,eth_getLogs=60.');
  return { ...prices, default: other };
};

function givenIn(options: CheckOptions): Given {
  const { requestsPerSecond, requestsPerDay, unitsPerDay, unitPrices } = options;
  const plan = {
    ...(requestsPerSecond !== undefined && { requests_per_second: requestsPerSecond }),
    ...(requestsPerDay !== undefined && { requests_per_day: requestsPerDay }),
    ...(unitsPerDay !== undefined && { units_per_day: unitsPerDay }),
    ...(unitPrices !== undefined && { unit_prices: unitPrices }),
  };
  return { urls: options.url, headers: options.header, wsUrl: options.wsUrl ?? null, plan };
}

const collect = (text: string, before: string[]): string[] => [...before, text];

const collectHeader = (text: string, before: Record<string, string>): Record<string, string> => {
  const [, name, value] = /^([A-Za-z0-9-]{1,64}):\s*(.+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('expected "Name: value".');
  return { ...before, [name]: value };
};
