import { beforeAll, describe, expect } from '@jest/globals';
import type { WebhookSettings } from '@quittance/contracts/webhook.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../support/merchant.ts';
import { answerWith, isGenuine, receivedBy, type Received } from '../support/receiver.ts';
import { rule } from '../support/rule.ts';

const PATH = '/api/v1/merchant/webhook';

/** What a merchant chooses to be told besides PAID, and test events. */
export function extensionsWebhooksSection(contract: Contract): void {
  describe('the choice of events', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const put = (events?: unknown) =>
      merchant.call('PUT', PATH, {
        body: { url: `https://${merchant.host}/hooks`, ...(events !== undefined && { events }) },
      });
    const chosen = async () => (await merchant.call('GET', PATH)).json<WebhookSettings>().events;

    rule(
      'extensions.webhooks.events',
      'is PAID alone at first, is answered 200 by PUT and GET, and stays until another is put',
      async () => {
        expect(await chosen()).toEqual(['PAID']);
        const events = ['PAID', 'CANCELLED', 'TRANSFER_UNMATCHED'];
        for (const given of [events, undefined]) {
          const answer = await put(given);
          expect([answer.status, answer.json<WebhookSettings>().events]).toEqual([200, events]);
        }
        expect(await chosen()).toEqual(events);
      },
    );

    rule(
      'extensions.webhooks.events-refused',
      'is 422 on the field when it is empty, repeats, or has anything else in it, and then stays as it was',
      async () => {
        const before = await chosen();
        for (const wrong of [[], ['PAID', 'PAID'], ['paid'], ['PENDING'], 'PAID', { PAID: true }, null, [null]]) {
          const answer = await put(wrong);
          const { detail } = answer.json<{ detail: { field: string }[] }>();
          expect([wrong, answer.status, detail.map(({ field }) => field)]).toEqual([wrong, 422, ['events']]);
        }
        expect(await chosen()).toEqual(before);
      },
    );
  });

  describe('a test event', () => {
    type Tested = { event_id: string; delivered: boolean; http_status: number | null; error_category: string | null };
    const test = (merchant: Merchant) => merchant.call('POST', `${PATH}/test`);

    rule('extensions.webhooks.test-unconfigured', 'is 409 before the endpoint is set', async () => {
      const answer = await test(await openMerchant(contract.stack, { webhook: false }));
      expect([answer.status, answer.json<{ detail: string }>().detail]).toEqual([409, 'Webhook is not configured']);
    });

    rule(
      'extensions.webhooks.test',
      'is one attempt, with the current key, and 200 with what came of it, whether the endpoint took it or not',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const { signing_key: key } = (await merchant.call('POST', `${PATH}/rotate-key`)).json<{
          signing_key: string;
        }>();
        const delivered = await test(merchant);
        await answerWith(contract.stack, merchant.host, { status: 503 });
        const refused = await test(merchant);
        expect([delivered.status, refused.status]).toEqual([200, 200]);
        const common = { event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/), duration_ms: expect.any(Number) };
        expect(delivered.json()).toEqual({ ...common, delivered: true, http_status: 200, error_category: null });
        expect(refused.json()).toEqual({ ...common, delivered: false, http_status: 503, error_category: 'http_5xx' });
        const received = await receivedBy(contract.stack, merchant.host);
        expect(received).toHaveLength(2);
        const [first] = received as [Received];
        const { event_id: id } = delivered.json<Tested>();
        expect(first.raw_body).toBe(
          `{"event_id":"${id}","event_type":"test","payment_id":null,"status":"TEST","expected_amount":"0",` +
            '"transaction_id":null,"transaction_event_index":null,"description":"Test event"}',
        );
        expect(first.headers['x-service-event-id']).toBe(id);
        expect(isGenuine(first, key)).toBe(true);
      },
    );

    rule(
      'extensions.webhooks.test-limit',
      'counts with the webhook settings: the eleventh of both is 429',
      async () => {
        const merchant = await openMerchant(contract.stack, { webhook: false });
        for (let n = 0; n < 10; n += 1) expect((await test(merchant)).status).toBe(409);
        const [tested, rotated] = await Promise.all([test(merchant), merchant.call('POST', `${PATH}/rotate-key`)]);
        expect([tested.status, rotated.status]).toEqual([429, 429]);
      },
    );
  });
}
