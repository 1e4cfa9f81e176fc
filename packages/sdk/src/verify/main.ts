#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { TokenOfNetwork } from '../proof/tokens.ts';
import { ProofError, verifyProof, type ProvedPayment } from '../proof/verify.ts';
import type { PaymentProof } from '../types.ts';
import { blockAt } from './block-at.ts';

const help = `Usage: quittance-verify <proof.json> [options]

Checks the proof that a payment was paid on its chain: GET /payments/{payment_id}/proof. Needs no Quittance and no key.
Everything follows from the hash of one block, so take that hash from a source that you trust.

  --rpc <url>               asks this JSON-RPC endpoint of the chain for the block
  --block-hash <hash>       the block's hash, from an explorer or your own node
  --token <chain:address:decimals>
                            the token, for a network that Quittance does not ship: 31337:0x5fbd…:6

Exit code: 0 proved, 1 refused, 2 wrong usage or no answer from the endpoint, 3 holds if the printed block hash is right.
`;

/** The proof holds, but nothing said that its block is on the chain. */
const UNTRUSTED = 3;

class UsageError extends Error {}

try {
  process.exitCode = await main();
} catch (error) {
  const refused = error instanceof ProofError;
  process.stderr.write(`quittance-verify: ${refused ? `refused at ${error.step}: ` : ''}${(error as Error).message}\n`);
  if (error instanceof UsageError) process.stderr.write('See --help.\n');
  process.exitCode = refused ? 1 : 2;
}

async function main(): Promise<number> {
  const { values, positionals } = readWords();
  if (values.help === true) {
    process.stdout.write(help);
    return 0;
  }
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError('give one file with a proof');
  const token = values.token === undefined ? {} : { token: tokenFrom(values.token) };
  const { rpc, 'block-hash': given } = values;
  if (rpc !== undefined && !/^https?:\/\//.test(rpc)) throw new UsageError(`--rpc ${rpc} is not an http(s) URL`);
  if (given !== undefined && !/^(0x)?[0-9a-f]{64}$/i.test(given))
    throw new UsageError('--block-hash is 64 hex characters');

  const proof = await readFrom(file);
  const claimed = (proof as Partial<PaymentProof> | null)?.block?.hash;
  // What needs no trust is checked first, so that a malformed proof asks no endpoint for anything.
  const proved = verifyProof(proof, { blockHash: given ?? String(claimed), ...token });
  const read = proof as PaymentProof;
  if (rpc !== undefined) await compareWithEndpoint(read, rpc);
  process.stdout.write(printed(read, proved));
  if (rpc !== undefined || given !== undefined) return 0;
  process.stdout.write(
    `This holds if block ${read.block.number} of the chain has this hash. Compare it, or give --rpc.\n`,
  );
  return UNTRUSTED;
}

function readWords() {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      allowPositionals: true,
      options: { rpc: text, 'block-hash': text, token: text, help: { type: 'boolean' } },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function tokenFrom(word: string): TokenOfNetwork {
  const [, chainId, address, decimals] = /^(\d{1,15}):(0x[0-9a-f]{40}):(\d{1,2})$/i.exec(word) ?? [];
  if (address === undefined) throw new UsageError('--token is <chain id>:<address>:<decimals>');
  return { chainId: Number(chainId), address, decimals: Number(decimals) };
}

async function readFrom(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}`);
  }
}

/** The block of the endpoint also has the ids of its transactions, which receipts leave out. */
async function compareWithEndpoint({ chain_id, block, receipts }: PaymentProof, rpc: string): Promise<void> {
  const { hash, transactionIds } = await blockAt(rpc, chain_id, block.number);
  if (hash.toLowerCase() !== block.hash.toLowerCase())
    throw new ProofError('block', `block ${block.number} of the endpoint has the hash ${hash}`);
  for (const { index, transaction_id: id } of receipts)
    if (transactionIds[index] !== id.toLowerCase().replace(/^0x/, ''))
      throw new ProofError('block', `transaction ${index} of the block is ${transactionIds[index]}, not ${id}`);
}

function printed(
  { payment, block, chain_id }: PaymentProof,
  { amountUnits, receivedUnits, transfers }: ProvedPayment,
): string {
  const lines = [
    `Payment ${payment.payment_id}: ${payment.amount} USDT to ${payment.merchant_wallet} on ${payment.network} (chain ${chain_id})`,
    ...(payment.accepted_amount === undefined ? [] : [`Accepted as paid from ${payment.accepted_amount} USDT`]),
    `Received ${receivedUnits} base units of ${amountUnits}, in ${transfers.length} transfer(s):`,
    ...transfers.map(
      ({ from, amountUnits: units, transactionIndex, logIndex }) =>
        `  ${units} from ${from}, event ${logIndex} of transaction ${transactionIndex}`,
    ),
    `Block ${block.number} of ${block.timestamp}: ${block.hash}`,
  ];
  return `${lines.join('\n')}\n`;
}
