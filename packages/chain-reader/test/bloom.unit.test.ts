import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bloomTest, coversBloom } from '../src/chain/bloom.ts';
import { DEPRECATE_TOPIC, TRANSFER_TOPIC } from '../src/chain/transfers.ts';
import { readNetworks } from '../src/chain/networks.ts';
import { addressOf } from '@quittance/testkit/chain/samples.ts';

const EMPTY = `0x${'0'.repeat(512)}`;
const FULL = `0x${'f'.repeat(512)}`;
/** The Tether contract on Ethereum. */
const TOKEN = '0xdac17f958d2ee523a2206206994597c13d831ec7';

/** The filter of these items, built slowly, bit by bit. */
function filterOf(items: string[]): string {
  const bytes = Buffer.alloc(256);
  for (let bit = 0; bit < 2048; bit += 1) {
    const single = Buffer.alloc(256);
    const offset = 255 - (bit >> 3);
    single[offset] = 1 << (bit & 7);
    const covered = coversBloom([{ address: items[0]!, topics: items.slice(1) }], `0x${single.toString('hex')}`);
    if (covered) bytes[offset]! |= 1 << (bit & 7);
  }
  return `0x${bytes.toString('hex')}`;
}

test('an empty filter proves that a block holds no transfer, a full one proves nothing', () => {
  const mayHold = bloomTest(TOKEN, TRANSFER_TOPIC);
  expect(mayHold(EMPTY)).toBe(false);
  expect(mayHold(FULL)).toBe(true);
});

test('a filter with both the contract and the event is recognised; one of them is not enough', () => {
  const mayHold = bloomTest(TOKEN, TRANSFER_TOPIC);
  expect(mayHold(filterOf([TOKEN, TRANSFER_TOPIC]))).toBe(true);
  expect(mayHold(filterOf([TOKEN]))).toBe(false);
  expect(mayHold(filterOf([TRANSFER_TOPIC]))).toBe(false);
});

test('a filter with only the deprecation of the contract does not prove that a block is empty', () => {
  const entry = {
    ...{ id: 'ethereum', family: 'evm', chain_id: 1, rpc_urls: ['http://a'], usdt_contract: TOKEN, decimals: 6 },
    ...{ confirmations: 1, finality: 'confirmations', poll_interval_ms: 1000, explorer_transaction_url: null },
  };
  const [network] = readNetworks([entry], {});
  expect(network?.mayHoldTransfer?.(filterOf([TOKEN, DEPRECATE_TOPIC]))).toBe(true);
  expect(network?.mayHoldTransfer?.(filterOf([TOKEN, addressOf(5)]))).toBe(false);
});

test('logs explain a filter only if none of its items is missing', () => {
  const items = [TOKEN, TRANSFER_TOPIC, addressOf(77)];
  const filter = filterOf(items);
  const all = items.map((item) => ({ address: item, topics: [] }));
  expect(coversBloom(all, filter)).toBe(true);
  expect(coversBloom(all.slice(1), filter)).toBe(false);
  expect(coversBloom([], filter)).toBe(false);
  expect(coversBloom([], EMPTY)).toBe(true);
  expect(coversBloom(all, FULL)).toBe(false);
});

test('more logs than the filter has, such as those of a bridge, do no harm', () => {
  const filter = filterOf([TOKEN, TRANSFER_TOPIC]);
  const transfer = { address: TOKEN, topics: [TRANSFER_TOPIC] };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), (extra) =>
      coversBloom([transfer, { address: addressOf(extra), topics: [] }], filter),
    ),
  );
});
