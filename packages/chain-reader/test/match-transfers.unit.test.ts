import { expect, test } from '@jest/globals';
import { matchTransfers } from '../src/chain/read-blocks.ts';
import { readNetworks } from '../src/chain/networks.ts';
import { sampleLog, TOKEN } from './samples.ts';

const [network] = readNetworks(
  [
    {
      ...{
        id: 'local',
        family: 'evm',
        chain_id: 1,
        rpc_urls: ['http://127.0.0.1:1'],
        usdt_contract: TOKEN,
        decimals: 6,
      },
      ...{ confirmations: 2, finality: 'confirmations', poll_interval_ms: 100, explorer_transaction_url: null },
    },
  ],
  {},
);
const entry = (number: number, count: number) => ({
  block: { number, hash: `0x${'0'.repeat(64)}`, timestamp: 0 },
  logs: Array.from({ length: count }, (_, logIndex) => sampleLog({ logIndex })),
});

test('more transfers than one transaction can store are read in fewer blocks at once', async () => {
  // It is refused before any receipt is requested.
  const match = matchTransfers(null as never, network!, [entry(1, 10_000), entry(2, 10_001)], { has: () => true });
  await expect(match).rejects.toMatchObject({ kind: 'range' });
});
