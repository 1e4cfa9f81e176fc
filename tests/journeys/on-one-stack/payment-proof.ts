import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createClient, ProofError, verifyProof, type PaymentProof } from '../../../packages/sdk/src/index.ts';
import { codeBlocks } from '../../support/guide.ts';
import { Shop } from '../../support/shop.ts';
import type { Shared } from './shared.ts';

/** The commands of docs/guide/prove-a-payment.md, in order. */
const commands = codeBlocks('prove-a-payment.md')
  .filter(({ language }) => language === 'sh')
  .flatMap(({ code }) => code.trim().split('\n'));
const program = join(repositoryRoot, 'packages', 'sdk', 'src', 'verify', 'main.ts');

/** A proof as the whole system makes it, checked by somebody who knows nothing but the chain. */
export const paymentProof = (shared: Shared): void =>
  describe('the proof of a payment', () => {
    test('holds with the hash that the chain has, as the guide checks it, and no changed one does', async () => {
      const { file } = shared.stack;
      const shop = await Shop.open(shared.stack);
      const { payment_id: id } = await shop.createOrThrow('12.50');
      await shop.pay('12.50');
      // A merchant may read 120 times a minute.
      await eventually(async () => expect((await shop.details(id)).status).toBe('PAID'), { intervalMs: 600 });
      const proof = await createClient({ baseUrl: file.edge_url, apiKey: shop.apiKey }).paymentProof(id);

      const { rpc_url: url, token: address, chain_id: chainId, decimals } = file.chain;
      const height = `0x${proof.block.number.toString(16)}`;
      const { hash: blockHash } = await rpc<{ hash: string }>(url, 'eth_getBlockByNumber', [height, false]);
      const trusting = { blockHash, token: { chainId, address, decimals } };
      const paid = { amountUnits: 12_500_000n, acceptedUnits: null, receivedUnits: 12_500_000n };
      expect(verifyProof(proof, trusting)).toMatchObject(paid);
      for (const [step, changed] of Object.entries(changesOf(proof)))
        expect(failedStep(() => verifyProof(changed, trusting))).toBe(step);

      const folder = await mkdtemp(join(tmpdir(), 'quittance-proof-'));
      try {
        const known: Record<string, string> = {
          'https://pay.example.com': file.edge_url,
          pay_019ce84d84ac72f48fc3fe94b288fac1: id,
          'npx --package @quittance/sdk quittance-verify': `"${process.execPath}" ${program} --token ${chainId}:${address}:${decimals}`,
          'https://ethereum-rpc.publicnode.com': url,
          '0x…': blockHash,
        };
        const typed = (text: string): string =>
          Object.entries(known).reduce((filled, [mark, value]) => filled.replaceAll(mark, value), text);
        expect(commands).toHaveLength(3);
        for (const command of commands) {
          const env = { ...process.env, QUITTANCE_API_KEY: shop.apiKey };
          const { stdout } = await promisify(execFile)('sh', ['-c', typed(command)], { cwd: folder, env });
          if (command.startsWith('npx')) expect(stdout).toContain(`Payment ${id}: 12.50 USDT to ${shop.wallet} on`);
        }
        expect(JSON.parse(await readFile(join(folder, 'proof.json'), 'utf8'))).toEqual(proof);
      } finally {
        await rm(folder, { recursive: true });
      }
    }, 120_000);
  });

/** Proofs that state something else, by the step that must refuse them. */
function changesOf(proof: PaymentProof): Record<string, object> {
  const { payment, block, receipts } = proof;
  return {
    amount: { ...proof, payment: { ...payment, amount: '12.51' } },
    transfer: { ...proof, payment: { ...payment, merchant_wallet: newWallet() } },
    branch: { ...proof, receipts: receipts.map((one) => ({ ...one, rlp: one.rlp.replace(/..$/, 'ee') })) },
    header: { ...proof, block: { ...block, number: block.number + 1 } },
  };
}

function failedStep(verify: () => unknown): string {
  try {
    verify();
    return 'none';
  } catch (error) {
    return error instanceof ProofError ? error.step : String(error);
  }
}
