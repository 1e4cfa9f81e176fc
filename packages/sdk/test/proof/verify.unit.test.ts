import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { ProofError, verifyProof, type PaymentProof, type ProofOptions } from '../../src/index.ts';
import { receiptInTrie } from '../../src/proof/branch.ts';
import { bytesOf, hexOf } from '../../src/proof/hex.ts';
import { decodeRlp } from '../../src/proof/rlp.ts';
import { tokenOfNetwork } from '../../src/proof/tokens.ts';
import { mutations, type Pick } from './mutations.ts';
import { proofs, refused } from './vectors.ts';

const MUTANTS = 5_000;

/** @returns the step that refuses, or null. */
function refusal(proof: unknown, options: ProofOptions): string | null {
  try {
    verifyProof(proof, options);
    return null;
  } catch (error) {
    return error instanceof ProofError ? error.step : String(error);
  }
}

/** The same numbers in every run: a linear congruential generator of 32 bits. */
function numbersFrom(seed: number): Pick {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test.each(proofs)('holds: $name', ({ proof, block_hash: blockHash }) => {
  const { amountUnits, acceptedUnits, receivedUnits, transfers } = verifyProof(proof, { blockHash });
  expect(receivedUnits >= (acceptedUnits ?? amountUnits) && amountUnits > 0n).toBe(true);
  const places = transfers.map(({ transactionIndex, logIndex }) => [transactionIndex, logIndex]);
  expect(places).toEqual(proof.receipts.map(({ index, log_index: logIndex }) => [index, logIndex]));
});

test.each(refused)('a block with a fault is refused at its step: $name', ({ proof, block_hash: blockHash, step }) => {
  expect(refusal(proof, { blockHash })).toBe(step);
});

test('each of 5,000 mutants is refused at the step that it breaks', () => {
  const pick = numbersFrom(42);
  const entries = Object.entries(mutations);
  const wrong: unknown[] = [];
  for (let mutant = 0; mutant < MUTANTS; mutant += 1) {
    const [name, { step, mutate }] = entries[mutant % entries.length]!;
    const { name: vector, proof, block_hash: blockHash } = proofs[pick(proofs.length)]!;
    const changed = structuredClone(proof);
    mutate(changed, pick);
    const refusedAt = refusal(changed, { blockHash });
    if (refusedAt !== step) wrong.push({ mutant, name, vector, step, refusedAt });
  }
  expect(wrong).toEqual([]);
});

test('a branch leads to no other index, so that no receipt is counted under two', () => {
  const { proof } = proofs.find(({ proof: { receipts } }) => receipts[0]!.index >= 256)!;
  const [{ index, nodes, rlp }] = proof.receipts as [PaymentProof['receipts'][0]];
  const root = decodeRlp(bytesOf(proof.block.header))[5] as Uint8Array;
  const branch = nodes.map(bytesOf);
  expect(hexOf(receiptInTrie(root, index, branch))).toBe(rlp);
  for (let other = 0; other < 1_024; other += 1)
    if (other !== index) expect(() => receiptInTrie(root, other, branch)).toThrow(RangeError);
});

test('a whole forged chain of hashes is refused, because its block is not the trusted one', () => {
  const [{ proof }, { block_hash: blockHash }] = proofs as [(typeof proofs)[0], (typeof proofs)[0]];
  expect(refusal(proof, { blockHash })).toBe('block');
});

test('hex may be of either case, and the trusted hash without 0x', () => {
  const [{ proof, block_hash: hash }] = proofs as [(typeof proofs)[0]];
  const upper = (text: string): string => `0x${text.slice(2).toUpperCase()}`;
  const receipts = proof.receipts.map((one) => ({ ...one, rlp: upper(one.rlp), nodes: one.nodes.map(upper) }));
  const block = { ...proof.block, hash: upper(proof.block.hash), header: upper(proof.block.header) };
  const written: PaymentProof = { ...proof, receipts, block, token: upper(proof.token) };
  expect(refusal(written, { blockHash: hash.slice(2) })).toBeNull();
});

test('the token of a network that Quittance does not ship is given', () => {
  const [{ proof, block_hash: blockHash }] = proofs as [(typeof proofs)[0]];
  const own = { ...proof, payment: { ...proof.payment, network: 'own' } };
  const token = { chainId: proof.chain_id, address: proof.token, decimals: 6 };
  expect(refusal(own, { blockHash })).toBe('network');
  expect(refusal(own, { blockHash, token })).toBeNull();
  expect(refusal(own, { blockHash, token: { ...token, decimals: 8 } })).toBe('amount');
});

test('less than the amount holds only with the amount that was accepted, and the result has both', () => {
  const { proof, block_hash: blockHash } = proofs.find(({ proof: { payment } }) => payment.accepted_amount)!;
  const { amountUnits, acceptedUnits, receivedUnits } = verifyProof(proof, { blockHash });
  expect([amountUnits, acceptedUnits, receivedUnits]).toEqual([30_000_000n, 29_500_000n, 29_500_000n]);
  const { accepted_amount: _, ...payment } = proof.payment;
  expect(refusal({ ...proof, payment }, { blockHash })).toBe('amount');
});

test('an amount has no more decimals than the token', () => {
  const [{ proof, block_hash: blockHash }] = proofs as [(typeof proofs)[0]];
  const payment = { ...proof.payment, amount: `${proof.payment.amount}000` };
  expect(refusal({ ...proof, payment }, { blockHash })).toBe('format');
});

test.each([null, 7, 'proof', [], {}])('what is no proof is refused: %j', (proof) => {
  expect(refusal(proof, { blockHash: '0x' })).toBe('format');
});

test('knows the token of each network that is shipped and has a receipts root', async () => {
  type Network = { id: string; family: string; chain_id: number; usdt_contract: string; decimals: number };
  const file = new URL('../../../../infra/networks.json', import.meta.url);
  const networks = (JSON.parse(await readFile(file, 'utf8')) as Network[]).filter(({ family }) => family === 'evm');
  expect(tokenOfNetwork).toEqual(
    Object.fromEntries(
      networks.map(({ id, chain_id: chainId, usdt_contract: address, decimals }) => [
        id,
        { chainId, address, decimals },
      ]),
    ),
  );
});
