import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { SOLIDIFIED_BEHIND } from '@quittance/local-backends/tron/answers.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../browser/support/browser.ts';
import { signingTronWallet, signingWallet } from '../../browser/support/wallets/signing.ts';
import { giveWallets, sendings, type TestWallet } from '../../browser/support/wallets/wallet.ts';
import { LocalChain } from '../../support/local-chain.ts';
import { Shop } from '../../support/shop.ts';
import type { Shared } from './shared.ts';

/** A merchant may read 120 times a minute. */
const patience = { intervalMs: 600 };

/** Customers who do nothing but open the page and press one button. Their wallets sign with the local chain's keys. */
export const walletPayment = (shared: Shared): void =>
  describe('paying with a wallet in the browser', () => {
    let browser: TestBrowser;
    beforeAll(async () => {
      browser = await openBrowser();
    }, 300_000);
    afterEach(() => browser.leaveAll());
    afterAll(() => browser.close());

    async function pressed(url: string, wallet: TestWallet): Promise<Page> {
      const { page, context } = await browser.visit({ device: 'desktop' });
      await giveWallets(context, [wallet]);
      await page.goto(url);
      await page.getByRole('button', { name: `Pay with ${wallet.name}` }).click();
      return page;
    }
    const isPaid = (page: Page) =>
      eventually(async () => expect(await page.locator('main').getAttribute('data-state')).toBe('paid'), patience);

    test('a wallet that does not know the chain adds it, signs, and the payment is PAID', async () => {
      const shop = await Shop.open(shared.stack);
      const { body: payment } = await shop.create('10.50');
      const wallet = signingWallet(shared.stack.file.chain);
      const page = await pressed(payment.payment_url, wallet);
      await isPaid(page);
      expect(sendings(wallet)).toHaveLength(1);
      const details = await shop.details(payment.payment_id);
      expect(details).toMatchObject({ status: 'PAID', unmatched_transfers: [], transaction: { amount: '10.5' } });
      expect(await page.content()).not.toContain(details.transaction!.transaction_id);
    }, 120_000);

    test('TronLink on the local Tron signs, and the payment is PAID', async () => {
      const { chain, tron } = shared.stack.file;
      const shop = await Shop.open(shared.stack, 'tron');
      const { body: payment } = await shop.create('10.50');
      const wallet = signingTronWallet(chain, tron!);
      const page = await pressed(payment.payment_url, wallet);
      await eventually(async () => expect((await shop.details(payment.payment_id)).status).toBe('CHECKING'), patience);
      await new LocalChain(chain.rpc_url).mine(SOLIDIFIED_BEHIND);
      await isPaid(page);
      expect(sendings(wallet)).toHaveLength(1);
    }, 120_000);

    test('a wallet that sends twice by itself pays once, and the merchant sees the other transfer', async () => {
      const shop = await Shop.open(shared.stack);
      const { body: payment } = await shop.create('10.50');
      const honest = signingWallet(shared.stack.file.chain);
      const send = honest.answers['eth_sendTransaction']!;
      const wallet = signingWallet(shared.stack.file.chain, {
        eth_sendTransaction: async (call) => {
          await send(call);
          return send(call);
        },
      });
      const page = await pressed(payment.payment_url, wallet);
      await isPaid(page);
      await eventually(async () => {
        const details = await shop.details(payment.payment_id);
        expect(details).toMatchObject({
          status: 'PAID',
          unmatched_transfers: [{ amount: '10.5', reason: 'duplicate' }],
        });
      }, patience);
      expect(sendings(wallet)).toHaveLength(1);
    }, 120_000);
  });
