import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testChain } from '../src/chain.ts';
import type { TestChain } from '../src/chain.ts';

const recipient = '0x00000000000000000000000000000000000000ab';
let chain: TestChain;
beforeAll(async () => {
  chain = await testChain();
});
afterAll(() => chain.close());

test('a transfer is in a block when it returns, with its Transfer event', async () => {
  const hash = await chain.transfer(recipient, 10_500_000n);
  const receipt = await chain.rpc<{ status: string; logs: { address: string; data: string }[] }>(
    'eth_getTransactionReceipt',
    [hash],
  );
  expect(receipt.status).toBe('0x1');
  expect(receipt.logs).toHaveLength(1);
  expect(receipt.logs[0]!.address.toLowerCase()).toBe(chain.token.toLowerCase());
  expect(BigInt(receipt.logs[0]!.data)).toBe(10_500_000n);
});

test('a reorganisation removes a transfer and keeps the height', async () => {
  const hash = await chain.transfer(recipient, 1n);
  await chain.mine(1);
  const height = await chain.rpc<string>('eth_blockNumber');
  await chain.reorg(2);
  expect(await chain.rpc<string>('eth_blockNumber')).toBe(height);
  expect(await chain.rpc('eth_getTransactionReceipt', [hash])).toBeNull();
});

test('with a fee, the fee comes first in the log and the payment is the rest', async () => {
  await chain.setFee(100);
  const hash = await chain.transfer(recipient, 1_000n);
  await chain.setFee(0);
  const { logs } = await chain.rpc<{ logs: { data: string }[] }>('eth_getTransactionReceipt', [hash]);
  expect(logs.map((log) => BigInt(log.data))).toEqual([10n, 990n]);
});

test('several transfers share one transaction', async () => {
  const hash = await chain.transferBatch([
    { to: recipient, units: 1n },
    { to: recipient, units: 2n },
  ]);
  const { logs } = await chain.rpc<{ logs: { data: string }[] }>('eth_getTransactionReceipt', [hash]);
  expect(logs.map((log) => BigInt(log.data))).toEqual([1n, 2n]);
});
