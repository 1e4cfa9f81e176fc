import { beforeAll, describe, expect } from '@jest/globals';
import type { WebhookSettings } from '@quittance/contracts/webhook.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { createAndPay } from '../../support/paying.ts';
import { isGenuine, untilReceived } from '../../support/receiver.ts';
import { rule } from '../support/rule.ts';
import { UTC_TIMESTAMP } from '../support/timestamp.ts';

type Shown = { url: string; key_id: string; signing_key?: string };

const PATH = '/api/v1/merchant/webhook';
const KEY_ID = /^whk_[0-9a-f]{32}$/;
const SIGNING_KEY = /^whsec_[A-Za-z0-9+/]{43}=$/;

/** PUT and GET /merchant/webhook, and the rotation of the signing key. Accepted URLs are in webhook-urls.ts. */
export function webhookSettingsSection(contract: Contract): void {
  describe('webhook settings', () => {
    const open = () => openMerchant(contract.stack, { webhook: false });
    const put = (merchant: Merchant, body: object | string, headers: Record<string, string> = {}) =>
      merchant.call('PUT', PATH, { body, headers });
    const rotate = (merchant: Merchant) => merchant.call('POST', `${PATH}/rotate-key`);
    const read = async (merchant: Merchant) => (await merchant.call('GET', PATH)).json<WebhookSettings>();

    rule(
      ['endpoint.get-webhook', 'endpoint.rotate-webhook-key', 'errors.404', 'errors.409'],
      'before the first PUT there is nothing to read, 404, and no key to rotate, 409',
      async () => {
        const merchant = await open();
        const [settings, rotation] = await Promise.all([merchant.call('GET', PATH), rotate(merchant)]);
        expect([settings.status, settings.json<object>()]).toEqual([
          404,
          { detail: 'Webhook is not configured', code: 'not_found' },
        ]);
        expect([rotation.status, rotation.json<object>()]).toEqual([
          409,
          { detail: 'Webhook is not configured', code: 'webhook_not_configured' },
        ]);
      },
    );

    describe('once put', () => {
      let merchant: Merchant;
      let first: Shown;
      const url = 'https://Hooks.Example.com:443/pay?tenant=7&x=%20';

      beforeAll(async () => {
        merchant = await open();
        const answer = await put(merchant, { url });
        expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
        first = answer.json<Shown>();
      });

      rule(
        ['endpoint.put-webhook', 'webhook-settings.url', 'webhook-settings.signing_key', 'webhook-settings.key_id'],
        'the first answer has the URL as it was set, the key id and the signing key',
        async () => {
          expect(first).toEqual({
            url,
            key_id: expect.stringMatching(KEY_ID),
            events: ['PAID'],
            signing_key: expect.stringMatching(SIGNING_KEY),
          });
        },
      );

      rule(
        ['endpoint.get-webhook', 'endpoint.put-webhook', 'webhook-settings.url', 'webhook-settings.signing_key'],
        'reads and later PUTs show URL and key id, never the key, which does not change',
        async () => {
          const before = await merchant.call('GET', PATH);
          expect(before.json()).toEqual({
            url,
            key_id: first.key_id,
            events: ['PAID'],
            created_at: expect.stringMatching(UTC_TIMESTAMP),
            updated_at: expect.stringMatching(UTC_TIMESTAMP),
          });
          const next = `https://${merchant.host}/elsewhere`;
          const answer = await put(merchant, { url: next });
          expect([answer.status, answer.json<Shown>()]).toMatchObject([200, { url: next, key_id: first.key_id }]);
          expect(answer.text).not.toContain('signing_key');
          const after = await read(merchant);
          const { created_at: createdAt, updated_at: updatedAt } = before.json<WebhookSettings>();
          expect(after).toEqual({
            url: next,
            key_id: first.key_id,
            events: ['PAID'],
            created_at: createdAt,
            updated_at: expect.any(String),
          });
          expect(after.updated_at > updatedAt).toBe(true);
          expect(before.text).not.toMatch(/whsec_/);
        },
      );

      rule(
        [
          'endpoint.rotate-webhook-key',
          'webhook-settings.signing_key',
          'webhook-settings.key_id',
          'endpoint.rule7.rotation',
        ],
        'a rotation shows a new key and its id once, and changes neither the URL nor the API key',
        async () => {
          const before = await read(merchant);
          const answer = await rotate(merchant);
          expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
          const rotated = answer.json<{ key_id: string; signing_key: string }>();
          expect(rotated).toEqual({
            key_id: expect.stringMatching(KEY_ID),
            signing_key: expect.stringMatching(SIGNING_KEY),
          });
          expect(rotated.key_id).not.toBe(first.key_id);
          expect(rotated.signing_key).not.toBe(first.signing_key);
          expect(await read(merchant)).toEqual({
            ...before,
            key_id: rotated.key_id,
            updated_at: expect.stringMatching(UTC_TIMESTAMP),
          });
          const again = await put(merchant, { url: before.url });
          expect(again.json()).toEqual({ url: before.url, key_id: rotated.key_id, events: ['PAID'] });
        },
      );

      rule(['endpoint.put-webhook', 'errors.422'], 'a refused PUT names the problem, and changes nothing', async () => {
        const before = await read(merchant);
        const good = 'https://hooks.example.com/';
        const json = { 'Content-Type': 'application/json' };
        const cases: [body: object | string, fields: string[], headers?: Record<string, string>][] = [
          [{}, ['url']],
          [{ url: null }, ['url']],
          [{ url: [good] }, ['url']],
          [{ url: good, secret: 'x' }, ['secret']],
          [{ URL: good, signing_key: 'x' }, ['URL', 'signing_key', 'url']],
          ['', ['body'], json],
          ['{"url":', ['body'], json],
          [`["${good}"]`, ['body'], json],
          [`url=${good}`, ['body'], { 'Content-Type': 'application/x-www-form-urlencoded' }],
          [JSON.stringify({ url: good }), ['body']],
          [JSON.stringify({ url: good }), ['body'], { 'Content-Type': 'text/plain' }],
        ];
        const answers = await Promise.all(cases.map(([body, , headers]) => put(merchant, body, headers)));
        const found = answers.map(({ status, json: parsed }) => {
          const { detail } = parsed<{ detail: { field: string; reason: string }[] }>();
          return [status, detail.map(({ field }) => field).sort()];
        });
        expect(found).toEqual(cases.map(([, fields]) => [422, fields]));
        expect(await read(merchant)).toEqual(before);
      });
    });

    rule(
      ['endpoint.put-webhook', 'webhook-settings.signing_key', 'auth.7'],
      'of simultaneous first PUTs exactly one gets the key, and that key signs',
      async () => {
        const merchant = await open();
        const urls = Array.from({ length: 8 }, (_, index) => `https://${merchant.host}/${index}`);
        const answers = await Promise.all(urls.map((url) => put(merchant, { url })));
        expect(answers.map(({ status }) => status)).toEqual(urls.map(() => 200));
        const shown = answers.map((answer) => answer.json<Shown>());
        expect(shown.map(({ url }) => url)).toEqual(urls);
        expect(new Set(shown.map(({ key_id: keyId }) => keyId)).size).toBe(1);
        const keys = shown.flatMap(({ signing_key: key }) => (key === undefined ? [] : [key]));
        expect(keys).toHaveLength(1);
        const settings = await read(merchant);
        expect(urls).toContain(settings.url);
        await createAndPay(contract.stack, merchant);
        const [event] = await untilReceived(contract.stack, merchant.host);
        expect(event!.headers['x-service-key-id']).toBe(settings.key_id);
        expect(isGenuine(event!, keys[0]!)).toBe(true);
      },
    );

    rule(
      ['endpoint.rotate-webhook-key', 'endpoint.rule7.rotation'],
      'of simultaneous rotations each shows its own key, and one of them is the current one',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(merchant)));
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
        const ids = answers.map((answer) => answer.json<{ key_id: string }>().key_id);
        expect(new Set(ids).size).toBe(5);
        expect(ids).toContain((await read(merchant)).key_id);
      },
    );
  });
}
