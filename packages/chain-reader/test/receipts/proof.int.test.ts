import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifyProof } from '@quittance/sdk';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import { headerHash, type HeaderAnswer } from '../../src/receipts/header.ts';
import { receiptBytes, type ReceiptAnswer } from '../../src/receipts/receipt.ts';
import { receiptsTrie } from '../../src/receipts/trie.ts';
import { addressOf, makeProof, TRANSFER_TOPIC } from './synthetic-blocks.ts';

const program = fileURLToPath(new URL('../../../sdk/src/verify/main.ts', import.meta.url));
// More than 128 receipts, so that all forms of keys occur in the trie.
const PAYMENTS = 150;
const wallet = addressOf('the wallet of the merchant');

type Receipt = ReceiptAnswer & { transactionHash: string };

let chain: TestChain;
let folder: string;
let block: HeaderAnswer;
let receipts: Receipt[];

beforeAll(async () => {
  chain = await testChain();
  folder = await mkdtemp(join(tmpdir(), 'quittance-proof-'));
  await chain.rpc('evm_setAutomine', [false]);
  for (let payment = 1; payment <= PAYMENTS; payment += 1) await send(transferOf(wallet, payment));
  await chain.mine(1);
  block = await chain.rpc<HeaderAnswer>('eth_getBlockByNumber', ['latest', false]);
  receipts = await chain.rpc<Receipt[]>('eth_getBlockReceipts', ['latest']);
});
afterAll(async () => {
  await chain.close();
  await rm(folder, { recursive: true });
});

/** transfer(address,uint256) */
const transferOf = (to: string, units: number): string =>
  `0xa9059cbb${to.slice(2).padStart(64, '0')}${units.toString(16).padStart(64, '0')}`;

const send = (input: string): Promise<string> =>
  chain.rpc('eth_sendTransaction', [{ from: chain.payer, to: chain.token, data: input, gas: '0x186a0' }]);

/** The proof of the payment at this index of the block, by the endpoint's own answers. */
function proofAt(index: number) {
  const logIndex = receipts[index]?.logs.findIndex(({ topics }) => topics[0] === TRANSFER_TOPIC) ?? -1;
  const units = BigInt(receipts[index]?.logs[logIndex]?.data ?? 0);
  const amount = `${units / 1_000_000n}.${String(units % 1_000_000n).padStart(6, '0')}`;
  const facts = { network: 'local', chainId: chain.chainId, token: chain.token.toLowerCase(), amount, wallet };
  const proof = makeProof({ header: block, hash: String(block['hash']), receipts }, facts, [[index, logIndex]]);
  return { ...proof, receipts: proof.receipts.map((one) => ({ ...one, transaction_id: transactionAt(index) })) };
}

const transactionAt = (index: number): string => String(receipts[index]?.transactionHash).slice(2);

/** Runs the command with this proof. */
async function verify(proof: object): Promise<{ code: unknown; out: string; errors: string }> {
  const file = join(folder, 'proof.json');
  await writeFile(file, JSON.stringify(proof));
  const words = [program, file, '--rpc', chain.rpcUrl, '--token', `${chain.chainId}:${chain.token}:${chain.decimals}`];
  return new Promise((resolve) => {
    execFile(process.execPath, words, (error, out, errors) =>
      resolve({ code: error === null ? 0 : error.code, out, errors }),
    );
  });
}

test('a block is rebuilt: its header has its hash, and its receipts have its receipts root', () => {
  expect(receipts.length).toBe(PAYMENTS);
  expect(headerHash(block)).toBe(block['hash']);
  expect(receiptsTrie(receipts.map(receiptBytes)).root).toBe(block['receiptsRoot']);
});

test('each payment of the block has a proof that verifies', () => {
  const token = { chainId: chain.chainId, address: chain.token, decimals: chain.decimals };
  for (let index = 0; index < PAYMENTS; index += 1) {
    const { transfers } = verifyProof(proofAt(index), { blockHash: String(block['hash']), token });
    expect(transfers).toMatchObject([{ from: chain.payer.toLowerCase(), transactionIndex: index }]);
  }
});

test('the command compares the block and the transaction with an endpoint', async () => {
  const proof = proofAt(129);
  const { code, out, errors } = await verify(proof);
  expect([code, errors]).toEqual([0, '']);
  expect(out).toContain(`Payment ${proof.payment.payment_id}`);

  const [receipt] = proof.receipts;
  const other = await verify({ ...proof, receipts: [{ ...receipt, transaction_id: transactionAt(0) }] });
  expect([other.code, other.errors]).toEqual([1, expect.stringContaining('refused at block: transaction 129')]);
});

test('the command refuses a block that the endpoint has replaced', async () => {
  const proof = proofAt(7);
  await chain.reorg(1);
  const { code, errors } = await verify(proof);
  expect([code, errors]).toEqual([1, expect.stringContaining(`refused at block: block ${proof.block.number}`)]);
});
