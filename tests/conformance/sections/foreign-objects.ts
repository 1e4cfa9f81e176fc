import { beforeAll, describe, expect } from '@jest/globals';
import { newId, newPublicToken } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { bytesOf } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { apiAt, openMerchant, type Merchant } from '../../support/merchant.ts';
import { patience } from '../../support/paying.ts';
import { untilReceived, type Received } from '../../support/receiver.ts';
import { rule } from '../support/rule.ts';

/** No merchant can see, change or detect another one's payments and events. One paid payment serves all tests. */
export function foreignObjectsSection(contract: Contract): void {
  describe("another merchant's objects", () => {
    let owner: Merchant;
    let stranger: Merchant;
    let paid: Payment;
    let open: Payment;
    let keyIdBefore: string;
    let newKey: string;
    let received: Received;

    beforeAll(async () => {
      [owner, stranger] = await Promise.all([openMerchant(contract.stack), openMerchant(contract.stack)]);
      const settings = await owner.call('GET', '/api/v1/merchant/webhook');
      keyIdBefore = settings.json<{ key_id: string }>().key_id;
      paid = await owner.created({ amount: '8.01' });
      open = await owner.created({ amount: '8.02' });
      const rotated = await apiAt(contract.stack.edge_url)('POST', '/api/v1/merchant/rotate-key', {
        headers: { 'secret-key': owner.rotationSecret },
      });
      newKey = rotated.json<{ new_api_key: string }>().new_api_key;
      await payOnChain(contract.stack.chain, owner.wallet, '8.01');
      [received] = (await untilReceived(contract.stack, owner.host)) as [Received];
    }, 120_000);

    const asOwner = (method: string, path: string) => owner.call(method, path, { headers: { 'X-API-Key': newKey } });

    rule(
      ['auth.7', 'endpoint.rule8.rotation'],
      'a delivery after an API key rotation is signed with the unchanged signing key',
      async () => {
        expect(received.headers['x-service-key-id']).toBe(keyIdBefore);
        expect(received.verified).toBe(true);
      },
    );

    rule(
      ['errors.404', 'errors.409', 'endpoint.rule4.webhooks', 'endpoint.rule5.retry'],
      "every endpoint answers another merchant's id and an unknown one with the same status and the same bytes",
      async () => {
        const { event_id: eventId, transaction_id: transactionId, transaction_event_index: eventIndex } = received.body;
        type Case = { method: string; path: (id: string) => string; id: string; status: number; body?: object };
        const cases: Case[] = [
          ...[paid, open].flatMap(({ payment_id: id }) => [
            { method: 'GET', path: (payment: string) => `/api/v1/payments/${payment}/details`, id, status: 404 },
            { method: 'GET', path: (payment: string) => `/api/v1/payments/${payment}/proof`, id, status: 404 },
            { method: 'GET', path: (payment: string) => `/api/v1/payments/${payment}/webhooks`, id, status: 404 },
            { method: 'POST', path: (payment: string) => `/api/v1/payments/${payment}/cancel`, id, status: 409 },
            {
              ...{ method: 'POST', path: (payment: string) => `/api/v1/payments/${payment}/accept-transfer`, id },
              ...{ status: 404, body: { transaction_id: transactionId, transaction_event_index: eventIndex } },
            },
          ]),
          {
            method: 'POST',
            path: (event: string) => `/api/v1/merchant/webhook/events/${event}/retry`,
            id: eventId,
            status: 404,
          },
        ];
        for (const { method, path, id, status, body } of cases) {
          const unknown = newId(id.startsWith('evt') ? 'evt' : 'pay');
          const [foreign, none] = await Promise.all([
            stranger.call(method, path(id), { body }),
            stranger.call(method, path(unknown), { body }),
          ]);
          expect([method, path(id), foreign.status]).toEqual([method, path(id), status]);
          expect(bytesOf(foreign)).toEqual(bytesOf(none));
          expect(foreign.text).not.toContain(id);
        }
      },
    );

    rule('errors.404', 'ids of the wrong format are answered like unknown ones', async () => {
      const shapeless = ['x', 'pay_', `pay_${'0'.repeat(31)}`, `PAY_${'0'.repeat(32)}`, paid.payment_id.toUpperCase()];
      const wanted = bytesOf(await stranger.call('GET', `/api/v1/payments/${newId('pay')}/details`));
      for (const id of [...shapeless, "'%20or%201=1", '%F0%9F%92%B8']) {
        const answers = await Promise.all(
          ['details', 'proof', 'webhooks'].map((what) => stranger.call('GET', `/api/v1/payments/${id}/${what}`)),
        );
        for (const answer of answers) expect([id, bytesOf(answer)]).toEqual([id, wanted]);
      }
      const anybody = apiAt(contract.stack.edge_url);
      const tokens = [newPublicToken(), paid.payment_id, 'x', 'a'.repeat(300)];
      const unknown = await Promise.all(tokens.map((token) => anybody('GET', `/api/v1/payments/${token}`)));
      for (const answer of unknown) expect(bytesOf(answer)).toEqual(bytesOf(unknown[0]!));
      expect(unknown[0]).toMatchObject({ status: 404, text: wanted.text });
    });

    rule('errors.404', "lists show no other merchant's payments, not even with another merchant's cursor", async () => {
      const page = await asOwner('GET', '/api/v1/payments/page?limit=1');
      const { next_cursor: cursor } = page.json<{ next_cursor: string }>();
      expect(typeof cursor).toBe('string');
      const own = await stranger.created({ amount: '8.03' });
      const lists = await Promise.all([
        stranger.call('GET', '/api/v1/payments'),
        stranger.call('GET', '/api/v1/payments/page'),
        stranger.call('GET', `/api/v1/payments/page?cursor=${encodeURIComponent(cursor)}`),
      ]);
      // The cursor is only a position in time: all of the other merchant's payments are later.
      const shown = lists.map((answer) => [answer.status, answer.json<{ payments: Payment[] }>().payments]);
      expect(shown).toEqual([
        [200, [own]],
        [200, [own]],
        [200, []],
      ]);
    });

    rule('endpoint.rule2.cancel', 'another merchant’s attempts have changed nothing for the owner', async () => {
      const details = await asOwner('GET', `/api/v1/payments/${open.payment_id}/details`);
      expect(details.json()).toMatchObject({ status: 'PENDING', cancelled_at: null });
      // The endpoint receives it before the record shows it.
      await eventually(async () => {
        const deliveries = await asOwner('GET', `/api/v1/payments/${paid.payment_id}/webhooks`);
        expect(deliveries.json()).toMatchObject({
          deliveries: [{ event_id: received.body.event_id, status: 'delivered' }],
        });
      }, patience);
    });
  });
}
