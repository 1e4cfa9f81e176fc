import { describe, expect, test } from '@jest/globals';
import { addressFromHex, parseAddress } from '@quittance/contracts/address.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { SOLIDIFIED_BEHIND } from '@quittance/local-backends/tron/answers.ts';
import { wantsTron } from '@quittance/local-stack/stack/tron.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { LocalChain } from '../../support/local-chain.ts';
import { Shop } from '../../support/shop.ts';
import type { Shared } from './shared.ts';

/** A merchant may read 120 times a minute. */
const patience = { intervalMs: 600 };

export const tronPayment = (shared: Shared): void =>
  describe('one payment on the local Tron', () => {
    test("is paid once its block is final to Tron's nodes, in Tron's spelling all the way to the webhook", async () => {
      const chain = new LocalChain(shared.stack.file.chain.rpc_url);
      const shop = await Shop.open(shared.stack, 'tron');
      const { status, body: created } = await shop.create('10.50');
      expect(status).toBe(201);
      expect(created).toMatchObject({ status: 'PENDING', network: 'tron', merchant_wallet: shop.wallet });
      const page = await (await fetch(created.payment_url)).text();
      expect(page).toContain(shop.wallet);
      expect(page).toContain('Local Tron test chain (TRC20)');
      // The same key owns a wallet with the same bytes on the other network, which has another USDT.
      const twin = addressFromHex('evm', parseAddress(shop.wallet)!.hex);
      const { body: other } = await shop.create('10.50', undefined, twin);
      expect(other).toMatchObject({ network: 'local', merchant_wallet: twin });

      const paid = await chain.withMiningStopped(async () => {
        const { transactionHash, blockNumber } = await shop.pay('10.5');
        await eventually(async () => {
          expect((await shop.details(created.payment_id)).status).toBe('CHECKING');
        }, patience);
        await chain.mine(SOLIDIFIED_BEHIND);
        const details = await eventually(async () => {
          const now = await shop.details(created.payment_id);
          expect(now.status).toBe('PAID');
          return now;
        }, patience);
        expect(details.transaction).toMatchObject({
          transaction_id: transactionHash.slice(2),
          transaction_event_index: 0,
          block_number: blockNumber,
        });
        return details;
      });
      const [webhook] = await eventually(async () => {
        const events = await shop.webhooks();
        expect(events).not.toHaveLength(0);
        return events;
      }, patience);
      expect(webhook).toMatchObject({
        verified: true,
        body: { payment_id: created.payment_id, status: 'PAID', transaction_id: paid.transaction!.transaction_id },
      });
      expect((await shop.details(other.payment_id)).status).toBe('PENDING');
    }, 240_000);

    test('its node answers as Tron’s nodes do, and the next start has it again', async () => {
      const { rpc_url: url, chain_id: chainId, token } = shared.stack.file.tron!;
      expect(token).toMatch(/^T[1-9A-Za-z]{33}$/);
      expect(Number(await rpc<string>(url, 'eth_chainId'))).toBe(chainId);
      const block = await rpc<Record<string, string>>(url, 'eth_getBlockByNumber', ['finalized', false]);
      expect(block).toMatchObject({ stateRoot: '0x', baseFeePerGas: '0x0', logsBloom: `0x${'0'.repeat(512)}` });
      await expect(rpc(url, 'eth_getBlockByNumber', ['safe', false])).rejects.toThrow('TAG safe not supported');
      await expect(rpc(url, 'eth_getBlockReceipts', ['latest'])).rejects.toThrow('method not found');
      expect(await wantsTron({ directory: shared.directory, environment: {} })).toBe(true);
    });
  });
