import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import {
  createClient,
  QuittanceError,
  verifyProof,
  verifyWebhook,
  type Quittance,
} from '../../../packages/sdk/src/index.ts';
import { registerMerchant } from '../../support/operator.ts';
import type { ReceivedWebhook } from '../../support/shop.ts';
import type { Shared } from './shared.ts';

/** A merchant may read 120 times a minute. */
const patience = { intervalMs: 600 };

export const sdk = (shared: Shared): void =>
  describe('the client', () => {
    test('does everything that a merchant can do, and every error has its code', async () => {
      const { file, backends } = shared.stack;
      const host = `shop-${randomBytes(4).toString('hex')}.example.com`;
      const merchant_wallet = newWallet();
      const merchant = await registerMerchant(file, host);
      const used = new Set<string>();
      const client = recording(createClient({ baseUrl: file.edge_url, apiKey: merchant.api_key }), used);
      const codeOf = async (call: Promise<unknown>): Promise<string> => {
        const error = await call.then(
          () => null,
          (reason: unknown) => reason,
        );
        return error instanceof QuittanceError ? error.code : `no error of the client: ${String(error)}`;
      };
      const order = { amount: '12.50', merchant_wallet, description: 'Tea for two', order_id: host };

      expect(await client.getLimits()).toMatchObject({ access_type: 'legacy' });
      expect(await client.getRates()).toHaveProperty('rates');
      expect(await codeOf(client.createPayment(order))).toBe('webhook_not_configured');
      expect(await codeOf(client.testWebhook())).toBe('webhook_not_configured');

      const { key_id, signing_key = '' } = await client.putWebhook({ url: `https://${host}/webhooks` });
      await backends.receiver.trust(key_id, signing_key);
      expect(await client.getWebhook()).toMatchObject({ key_id, events: ['PAID'] });
      expect(await client.testWebhook()).toMatchObject({ delivered: true, http_status: 200 });
      expect(await client.putProfile({ display_name: 'Tea & Co' })).toEqual(await client.getProfile());

      const payment = await client.createPayment(order, { idempotencyKey: 'order-1' });
      expect(payment).toMatchObject({ status: 'PENDING', amount: '12.50', order_id: host });
      expect(await client.createPayment(order, { idempotencyKey: 'order-1' })).toEqual(payment);
      const other = { ...order, amount: '13' };
      expect(await codeOf(client.createPayment(other, { idempotencyKey: 'order-1' }))).toBe('idempotency_conflict');
      expect(await codeOf(client.createPayment(order))).toBe('payment_unfinished');
      expect(await codeOf(client.createPayment({ ...order, amount: '0' }))).toBe('invalid_request');
      expect(await codeOf(client.getPaymentDetails(`pay_${'0'.repeat(32)}`))).toBe('not_found');
      expect(await client.getPublicStatus(payment.payment_url)).toMatchObject({ status: 'PENDING', amount: '12.50' });
      const unique = await client.createPayment({ ...order, amount: '9.90', unique_amount: true });
      expect(unique).toMatchObject({ requested_amount: '9.90', amount: expect.stringMatching(/^9\.90[0-9]{2}$/) });

      const list = { network: file.chain.network, addresses: [newWallet()], rest_seconds: 3600 };
      expect(await client.putWalletPool('shop', list)).toMatchObject({ kind: 'list', size: 1, free: 1 });
      const alone = await client.createPayment({
        amount: '7',
        wallet_pool: 'shop',
        description: 'Tea',
        order_id: 'own',
      });
      expect(alone).toMatchObject({ dedicated: true, merchant_wallet: list.addresses[0], received_amount: '0' });
      expect(await codeOf(client.createPayment({ amount: '7', wallet_pool: 'shop', description: 'Tea' }))).toBe(
        'wallet_pool_exhausted',
      );
      await client.cancelPayment(alone.payment_id);
      expect(await client.endWalletRest(alone.merchant_wallet)).toMatchObject({ networks: [file.chain.network] });
      expect(await codeOf(client.endWalletRest(alone.merchant_wallet))).toBe('not_found');
      expect(await client.getWalletPool('shop')).toMatchObject({ free: 1 });
      expect(await client.listWalletPools()).toMatchObject([{ name: 'shop' }]);

      const cancelled = await client.cancelPayment(unique.payment_id);
      expect(await client.cancelPayment(unique.payment_id)).toEqual(cancelled);

      await payOnChain(file.chain, merchant_wallet, '12.50');
      const paid = await eventually(async () => {
        const details = await client.getPaymentDetails(payment.payment_id);
        expect(details.status).toBe('PAID');
        const [delivery] = await client.listDeliveries(payment.payment_id);
        expect(delivery).toMatchObject({ status: 'delivered' });
        return { ...details, eventId: delivery!.event_id };
      }, patience);
      expect(await codeOf(client.cancelPayment(payment.payment_id))).toBe('cancel_unavailable');
      expect(await codeOf(client.paymentProof(alone.payment_id))).toBe('proof_unavailable');
      expect(await codeOf(client.retryEvent(paid.eventId))).toBe('event_not_retryable');

      // The requests that the endpoint received.
      const answer = await fetch(backends.receiver.eventsUrl);
      const { events } = (await answer.json()) as { events: ReceivedWebhook[] };
      const ours = events.filter((event) => event.host === host);
      const verified = await Promise.all(
        ours.map(({ body, headers, received_at: at }) =>
          verifyWebhook(JSON.stringify(body), headers, { [key_id]: signing_key }, Date.parse(at)),
        ),
      );
      expect(verified.map(({ status }) => status).sort()).toEqual(['PAID', 'TEST']);

      const short = await client.createPayment({ ...order, amount: '30' });
      const { transactionHash } = await payOnChain(file.chain, merchant_wallet, '29.5');
      const found = await eventually(async () => {
        const transfers = await client.findTransfers(transactionHash);
        expect(transfers.explanation_code).toBe('unmatched');
        return transfers.transfers[0]!;
      }, patience);
      const accepted = await eventually(async () => client.acceptTransfer(short.payment_id, found), patience);
      expect(accepted).toMatchObject({ status: 'PAID', transaction: { amount: '29.5', accepted: true } });
      const proof = await client.paymentProof(short.payment_id);
      expect(proof.payment).toMatchObject({ amount: '30', accepted_amount: '29.5' });
      const { rpc_url: url, token: address, chain_id: chainId, decimals } = file.chain;
      const height = `0x${proof.block.number.toString(16)}`;
      const { hash: blockHash } = await rpc<{ hash: string }>(url, 'eth_getBlockByNumber', [height, false]);
      expect(verifyProof(proof, { blockHash, token: { chainId, address, decimals } })).toMatchObject({
        ...{ acceptedUnits: 29_500_000n, receivedUnits: 29_500_000n },
      });

      const ids = [payment, unique, alone, short].map(({ payment_id: id }) => id);
      const newestFirst = ids.toReversed();
      expect((await client.listPayments({ order_id: host })).map((one) => one.payment_id)).toEqual(
        newestFirst.filter((id) => id !== alone.payment_id),
      );
      expect((await client.pagePayments({ limit: 2 })).payments.map((one) => one.payment_id)).toEqual(
        newestFirst.slice(0, 2),
      );
      expect(await idsOf(client.eachPayment({ limit: 1 }))).toEqual(newestFirst);
      const range = { created_from: payment.created_at, created_to: new Date(Date.now() + 60_000).toISOString() };
      expect(await idsOf(client.exportPayments(range))).toEqual(ids);
      const csv = await new Response(await client.exportPaymentsCsv(range)).text();
      expect(csv.trim().split('\r\n')).toHaveLength(5);
      const today = payment.created_at.slice(0, 10);
      const report = await client.readReport({ from: today, to: accepted.paid_at!.slice(0, 10) });
      expect(report.totals).toMatchObject({ created: 4, paid: 2, paid_amount: '42', cancelled: 2 });

      const rotated = await client.rotateSigningKey();
      expect(rotated.key_id).not.toBe(key_id);
      const { new_api_key: newKey } = await client.rotateApiKey(merchant.rotation_secret);
      expect(await codeOf(client.getLimits())).toBe('unauthorized');
      const renewed = createClient({ baseUrl: file.edge_url, apiKey: newKey });
      expect(await renewed.getWebhook()).toMatchObject({ key_id: rotated.key_id });
      expect([...used].sort()).toEqual(Object.keys(renewed).sort());
    }, 240_000);
  });

/** Records which methods were called. */
const recording = (client: Quittance, used: Set<string>): Quittance =>
  new Proxy(client, {
    get(target, name, receiver) {
      used.add(String(name));
      return Reflect.get(target, name, receiver) as unknown;
    },
  });

async function idsOf(payments: AsyncIterable<{ payment_id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { payment_id: id } of payments) ids.push(id);
  return ids;
}
