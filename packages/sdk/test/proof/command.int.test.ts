import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { proofs, refused } from './vectors.ts';

const program = fileURLToPath(new URL('../../src/verify/main.ts', import.meta.url));
const [{ proof, block_hash: blockHash }] = proofs as [(typeof proofs)[0]];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quittance-verify-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Writes the proof to a file, and runs the command with it. */
async function verify(content: unknown, ...words: string[]): Promise<{ code: unknown; out: string; errors: string }> {
  const file = join(folder, 'proof.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return new Promise((resolve) => {
    execFile(process.execPath, [program, file, ...words], (error, out, errors) =>
      resolve({ code: error === null ? 0 : error.code, out, errors }),
    );
  });
}

test('proved with a block hash that the caller trusts: exit code 0, and what was paid', async () => {
  const { code, out, errors } = await verify(proof, '--block-hash', blockHash);
  expect([code, errors]).toEqual([0, '']);
  expect(out).toContain(`Payment ${proof.payment.payment_id}: 49.9037 USDT to ${proof.payment.merchant_wallet}`);
  expect(out).toContain('Received 49903700 base units of 49903700, in 1 transfer(s):');
});

test('an accepted amount is printed', async () => {
  const { proof: accepted, block_hash: hash } = proofs.find((each) => each.proof.payment.accepted_amount)!;
  const { code, out } = await verify(accepted, '--block-hash', hash);
  expect(code).toBe(0);
  expect(out).toContain('Accepted as paid from 29.5 USDT\nReceived 29500000 base units of 30000000, in 1 transfer(s):');
  expect((await verify(proof, '--block-hash', blockHash)).out).not.toContain('Accepted');
});

test('without a trusted hash: exit code 3, and the hash to compare', async () => {
  const { code, out } = await verify(proof);
  expect(code).toBe(3);
  expect(out).toContain(blockHash);
  expect(out).toContain('This holds if block');
});

test('refused: exit code 1, and the step that failed', async () => {
  const [{ proof: failed, step }] = refused as [(typeof refused)[0]];
  const { code, errors } = await verify(failed);
  expect([code, errors]).toEqual([1, expect.stringContaining(`refused at ${step}: `)]);
  const elsewhere = await verify(proof, '--block-hash', `0x${'1'.repeat(64)}`);
  expect([elsewhere.code, elsewhere.errors]).toEqual([1, expect.stringContaining('refused at block: ')]);
});

test.each([
  ['a file that is no JSON', 'no proof', [], 'is not JSON'],
  ['a hash that is none', proof, ['--block-hash', '0x1'], '64 hex characters'],
  ['a URL that is none', proof, ['--rpc', 'localhost'], 'is not an http(s) URL'],
  ['a token that is none', proof, ['--token', '0x1'], '<chain id>:<address>:<decimals>'],
  ['an option that is none', proof, ['--other'], 'See --help'],
  ['an endpoint that does not answer', proof, ['--rpc', 'http://127.0.0.1:1'], 'does not answer'],
])('nothing is said of a proof with %s: exit code 2', async (_, content, words, message) => {
  const { code, out, errors } = await verify(content, ...words);
  expect([code, out]).toEqual([2, '']);
  expect(errors).toContain(message);
});
