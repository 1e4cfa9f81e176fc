import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { forwardWebhooks } from '@quittance/local-stack/receiver/process.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { languages, type Programs } from '../../clients/languages.ts';
import { runToEnd, startDriver, startShop } from '../../clients/processes.ts';
import { Shop } from '../../support/shop.ts';
import type { Shared } from './shared.ts';

/** A merchant may read 120 times a minute. */
const patience = { intervalMs: 600 };

export const clients = (shared: Shared): void =>
  describe.each(languages)('the example shop in $name', ({ missing, prepare }) => {
    let programs: Programs;
    let directory: string;
    if (missing === null) {
      beforeAll(async () => {
        directory = await mkdtemp(join(tmpdir(), `quittance-test-${process.pid}-shop-`));
        programs = await prepare();
      }, 300_000);
      afterAll(async () => {
        await programs.remove();
        await rm(directory, { recursive: true });
      });
    }

    (missing === null ? test : test.skip)(
      'creates a payment for an order, and receives the webhook that says it is paid',
      async () => {
        const { file, backends } = shared.stack;
        const shop = await Shop.open(shared.stack);
        const settings = {
          ...{ QUITTANCE_URL: file.edge_url, QUITTANCE_API_KEY: shop.apiKey, WALLET: shop.wallet },
          ...{ SIGNING_KEYS: JSON.stringify(shop.signingKeys), DATABASE: join(directory, 'shop') },
        };
        const link = await runToEnd(programs.order, ['order', '1007', '49.90'], settings);
        expect(await runToEnd(programs.order, ['order', '1007', '49.90'], settings)).toBe(link);
        const { payments } = (await shop.call<{ payments: Payment[] }>('GET', '/payments')).body;
        expect(payments).toHaveLength(1);
        const payment = payments[0]!;
        expect(payment).toMatchObject({ payment_url: link, order_id: '1007', amount: '49.90', status: 'PENDING' });

        const receiver = await startShop(programs.receiver, settings);
        const driver = await startDriver(programs.driver);
        const client = { base_url: file.edge_url, api_key: shop.apiKey, timeout: 60, max_retries: 4 };
        try {
          await backends.receiver.forwardTo(receiver.url);
          await shop.pay('49.90');
          await eventually(() => expect(receiver.paid()).toEqual([`paid ${payment.payment_id} 49.90`]), patience);
          await eventually(async () => {
            expect(await shop.deliveries(payment.payment_id)).toMatchObject([{ status: 'delivered' }]);
          }, patience);
          const details = await driver.ask({ ...client, do: 'details', arguments: [payment.payment_id] });
          expect(details.value).toMatchObject({ status: 'PAID', transaction: { amount: '49.9', accepted: false } });
          const status = await driver.ask({ ...client, do: 'status', arguments: [link] });
          expect(status.value).toMatchObject({ status: 'PAID', merchant_wallet: shop.wallet });
        } finally {
          await forwardWebhooks(file.receiver.url, null);
          await Promise.all([receiver.stop(), driver.stop()]);
        }
      },
      240_000,
    );
  });
