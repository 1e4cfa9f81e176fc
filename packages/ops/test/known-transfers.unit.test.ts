import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parseAddress } from '@quittance/contracts/address.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { knownTransferOf } from '../src/network-check/history.ts';

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as unknown;
const shipped = read('../../../infra/networks.json') as Network[];
const all = read('../src/network-check/known-transfers.json') as object[];

test('each known transfer is of a shipped network and can be compared with what is read', () => {
  const found = shipped.flatMap((network) => knownTransferOf(network) ?? []);
  expect(found).toHaveLength(all.length);
  expect(found).toEqual(expect.arrayContaining(all));
  for (const transfer of found) {
    expect(transfer.transaction_id).toMatch(/^[0-9a-f]{64}$/);
    expect([transfer.from, transfer.to].map((address) => parseAddress(address)?.address)).toEqual([
      transfer.from,
      transfer.to,
    ]);
    expect(BigInt(transfer.amount_units)).toBeGreaterThan(0n);
    expect(transfer.source).not.toBe('');
  }
});

test('a network of another token on the same chain has none', () => {
  const [ethereum] = shipped.filter(({ id }) => id === 'ethereum') as [Network];
  expect(knownTransferOf(ethereum)).not.toBeNull();
  expect(knownTransferOf({ ...ethereum, usdt_contract: `0x${'11'.repeat(20)}` })).toBeNull();
});
