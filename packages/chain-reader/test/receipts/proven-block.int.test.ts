import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { matchTransfers } from '../../src/chain/read-blocks.ts';
import { readProvenBlock } from '../../src/chain/proven-block.ts';
import { readBlockAt } from '../../src/rpc/reads.ts';
import { startReading, type Reading } from '../reading.ts';

let reading: Reading;
let number: number;

beforeAll(async () => {
  reading = await startReading();
  const { chain } = reading;
  await chain.rpc('evm_setAutomine', [false]);
  for (let count = 0; count < 12; count += 1) {
    const data = `0xa9059cbb${newWallet().slice(2).padStart(64, '0')}${'5'.padStart(64, '0')}`;
    await chain.rpc('eth_sendTransaction', [{ from: chain.payer, to: chain.token, data, gas: '0x186a0' }]);
  }
  await chain.mine(1);
  number = Number(await chain.rpc<string>('eth_blockNumber'));
});
afterAll(() => reading.close());
afterEach(() => reading.node.spoil(null));

const readProven = () => reading.readWithCost(async (rpc) => readProvenBlock(rpc, (await readBlockAt(rpc, number))!));
const methodsOf = (calls: readonly { method: string }[]) => Map.groupBy(calls, ({ method }) => method);

test('a block is read with all its receipts by one request', async () => {
  const { answer, requests, calls } = await readProven();
  expect(answer.receipts).toHaveLength(12);
  expect(requests).toBe(2);
  expect(calls.map(({ method }) => method)).toEqual([
    ...['eth_getBlockByNumber', 'eth_getBlockByNumber', 'eth_getBlockReceipts'],
  ]);
});

test('a node without the receipts of a block is asked for each of them', async () => {
  reading.node.spoil(({ method }) =>
    method === 'eth_getBlockReceipts'
      ? { result: undefined, error: { code: -32601, message: 'the method eth_getBlockReceipts does not exist' } }
      : undefined,
  );
  const { answer, calls } = await readProven();
  expect(answer.receipts).toHaveLength(12);
  expect(methodsOf(calls).get('eth_getTransactionReceipt')).toHaveLength(12);
});

test('receipts that the list lacks are requested singly', async () => {
  reading.node.spoil(({ method }, { result }) =>
    method === 'eth_getBlockReceipts' ? { result: (result as unknown[]).slice(2) } : undefined,
  );
  const { answer, calls } = await readProven();
  expect(answer.receipts).toHaveLength(12);
  expect(methodsOf(calls).get('eth_getTransactionReceipt')).toHaveLength(2);
});

test('receipts in another order do not make up the block', async () => {
  reading.node.spoil(({ method }, { result }) => {
    if (method === 'eth_getBlockByNumber' && result) {
      const block = result as { transactions: string[] };
      return { result: { ...block, transactions: block.transactions.toReversed() } };
    }
    return undefined;
  });
  await expect(readProven()).rejects.toMatchObject({ kind: 'invalid_answer' });
});

test('a transfer that is not in a block is not found there, whatever is shown of it', async () => {
  const network = { ...reading.network, isProven: true };
  const block = (await reading.read((rpc) => readBlockAt(rpc, number)))!;
  const topic = (digit: string) => `0x${digit.repeat(40).padStart(64, '0')}`;
  const log = {
    ...{ address: network.token, data: `0x${'5'.padStart(64, '0')}`, logIndex: 0 },
    topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', topic('1'), topic('2')],
    ...{ blockHash: block.hash, blockNumber: number, transactionHash: block.transactions[0]! },
  };
  const matching = reading.read((rpc) => matchTransfers(rpc, network, [{ block, logs: [log] }], { has: () => true }));
  await expect(matching).rejects.toMatchObject({ message: expect.stringContaining('does not contain an event') });
});
