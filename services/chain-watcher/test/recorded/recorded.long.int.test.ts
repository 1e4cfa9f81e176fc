import { describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { parseAddress } from '@quittance/contracts/address.ts';
import { expectedTransfers } from './expected-transfers.ts';
import { liesAbout } from './lies.ts';
import { chainOf, loadRecordedBlocks, type RecordedBlock } from './recorded-blocks.ts';
import { readThroughLies, type RecordedNetwork, type Reading, type Verdict } from './recorded-run.ts';
import { sampleBlocks } from './sample-blocks.ts';

/**
 * Blocks as nodes have shown them, served to a running service. RECORDED_BLOCKS names a directory with blocks of real networks; without it
 * there are made-up ones of the same shape.
 */
const directory = process.env['RECORDED_BLOCKS'];
const shippedFile = new URL('../../../../infra/networks.json', import.meta.url);
const shipped = JSON.parse(await readFile(shippedFile, 'utf8')) as (RecordedNetwork & { id: string })[];
const networks = new Map<string, RecordedNetwork>(shipped.map((entry) => [entry.id, entry]));
/** For recorded blocks of a token other than the shipped one. */
const others: Record<string, Partial<RecordedNetwork>> = {
  optimism: { usdt_contract: '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58' },
};
const recorded = directory === undefined ? samples('ethereum', 'tron') : await loadRecordedBlocks(directory);

function networkOf(name: string): RecordedNetwork {
  const entry = networks.get(name);
  if (entry === undefined) throw new Error(`${name} is not shipped`);
  return { ...entry, ...others[name] };
}

function tokenOf({ usdt_contract: contract }: RecordedNetwork): string {
  return parseAddress(contract)!.hex;
}

function samples(...names: string[]): Record<string, RecordedBlock[]> {
  return Object.fromEntries(names.map((name) => [name, sampleBlocks(tokenOf(networkOf(name)))]));
}

const readings: readonly Reading[] = ['at_head', 'behind'];
const rows = Object.entries(recorded)
  .flatMap(([name, blocks]) => readings.map((reading): [string, Reading, RecordedBlock[]] => [name, reading, blocks]))
  // For made-up blocks: each network and each way of reading once.
  .filter((_, at) => directory !== undefined || at % 3 === 0);

describe.each(rows)('recorded blocks of %s, read %s', (name, reading, blocks) => {
  const network = networkOf(name);
  const isProven = network['receipts'] === 'proven';
  const chain = chainOf(blocks, { blockSeconds: 3, hasBloom: network.family === 'evm', isProven });

  test('every transfer is published exactly as in its receipt, whatever false answer one of two endpoints gives', async () => {
    expect(expectedTransfers(chain, tokenOf(network)).length).toBeGreaterThan(0);
    const lies = liesAbout(tokenOf(network));
    const verdicts = await readThroughLies(chain, network, reading, [null, ...lies]);
    if (directory !== undefined) process.stdout.write(summaryOf(verdicts));
    expect(verdicts.filter((verdict) => !isRight(verdict, isProven)).map(described)).toEqual([]);
  }, 600_000);
});

/**
 * Where blocks are proven, nothing false is published, and an incident names each false answer about money. On other networks a consistent
 * one may be published, but never without an incident.
 */
function isRight({ lie, wrong, missing, unconfirmed, incidents, lies }: Verdict, isProven: boolean): boolean {
  const isExact = wrong.length === 0 && missing.length === 0 && unconfirmed.length === 0;
  const needsName = isProven && lie !== null && lies > 0 && !HARMLESS.has(lie.name);
  if (needsName && incidents.length === 0) return false;
  return isExact || (!isProven && lie?.kind === 'consistent' && incidents.length > 0);
}

/** They claim nothing that is false about a watched wallet: another order, events of nobody, or no answer. */
const HARMLESS = new Set([
  'logs: in reversed order',
  "logs: another contract's events as the token's",
  'header: null',
  'receipt: null',
  'errors in place of events',
]);

const described = ({ lie, wrong, missing, unconfirmed, incidents, lies }: Verdict) => ({
  lie: lie?.name ?? 'none',
  ...{ lies, incidents, wrong: wrong.slice(0, 3), missing: missing.slice(0, 3), unconfirmed: unconfirmed.length },
});

const summaryOf = (verdicts: readonly Verdict[]): string =>
  verdicts
    .map(({ lie, wrong, missing, unconfirmed, incidents, lies }) =>
      [lie?.name ?? 'none', lies, wrong.length, missing.length, unconfirmed.length, incidents.join()].join('\t'),
    )
    .join('\n')
    .concat('\n');
