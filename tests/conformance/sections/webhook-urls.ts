import { beforeAll, describe, expect } from '@jest/globals';
import type { WebhookSettings } from '@quittance/contracts/webhook.ts';
import { fewAtATime } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { endWindows } from '../support/access.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { hostileUrls } from '../../../services/webhook-dispatcher/test/hostile-urls.ts';
import { urlTable } from '../../../services/webhook-dispatcher/test/url-table.ts';
import { rule } from '../support/rule.ts';

const PATH = '/api/v1/merchant/webhook';
const PUTS_A_WINDOW = 10;

/** URLs that a text file cannot hold, or only JSON can express. */
const moreRefused = [
  ...['\n', '\r', '\0', '\u007f', '\u00a0', '\u200b', '\u202e', '\ud800'].flatMap((character) => [
    `https://hooks${character}.example.com/`,
    `https://hooks.example.com/${character}`,
    `${character}https://hooks.example.com/`,
  ]),
  'https://hooks.example.com/'.padEnd(2049, 'a'),
  `https://${'a'.repeat(64)}.example.com/`,
  'https://hooks.example.com:443@127.0.0.1/',
  'https://hooks.example.com%00.evil.example/',
  'https://[::ffff:a00:1]/',
  'https://[fd12:3456:789a::1]/',
  'https://169.254.170.2/',
  'https://100.64.0.0/',
  'wss://hooks.example.com/',
  'file:///etc/passwd',
  'data:text/plain,x',
  'null',
];

/** PUT /merchant/webhook: the accepted URLs. */
export function webhookUrlsSection(contract: Contract): void {
  describe('the URL of a webhook', () => {
    let merchant: Merchant;
    let settings: WebhookSettings;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
      settings = (await merchant.call('GET', PATH)).json<WebhookSettings>();
    });
    const put = (url: string) => merchant.call('PUT', PATH, { body: { url } });
    const readSettings = async () => (await merchant.call('GET', PATH)).json<WebhookSettings>();

    async function expectRefused(urls: string[]): Promise<void> {
      const answers: Awaited<ReturnType<typeof put>>[] = [];
      for (let from = 0; from < urls.length; from += PUTS_A_WINDOW) {
        // Names are checked after the rate limit.
        await endWindows(contract.stack, merchant);
        const some = urls.slice(from, from + PUTS_A_WINDOW);
        answers.push(...(await fewAtATime(some.map((url) => () => put(url)))));
      }
      for (const [index, answer] of answers.entries()) {
        expect([urls[index], answer.status, answer.json<object>()]).toEqual([
          urls[index],
          422,
          { detail: [{ field: 'url', reason: expect.stringMatching(/^must .+/) }], code: 'invalid_request' },
        ]);
      }
      expect(await readSettings()).toEqual(settings);
    }

    rule(
      ['endpoint.rule6.url', 'errors.422'],
      'is refused when it is not public HTTPS on port 443, holds credentials or a fragment, or has an unusual spelling',
      async () => {
        const refused = [...urlTable('reject'), ...hostileUrls];
        expect(refused.length).toBeGreaterThan(250);
        await expectRefused(refused);
      },
    );

    rule(
      ['endpoint.rule6.url', 'errors.422'],
      'is refused with control characters, overlong, with another scheme or with an alternative spelling of a private address',
      () => expectRefused(moreRefused),
    );

    rule(
      ['endpoint.rule6.url', 'errors.422', 'limits.app.put-webhook', 'limits.app.rule6'],
      'is refused when its host does not exist, which counts because it needs a DNS query; what the text shows does not count',
      async () => {
        const stranger = await openMerchant(contract.stack, { webhook: false });
        const tryUrl = (url: string) => stranger.call('PUT', PATH, { body: { url } });
        for (let count = 1; count <= PUTS_A_WINDOW; count += 1) {
          const [named, malformed] = await Promise.all([
            tryUrl('https://hooks.nobody.invalid/'),
            tryUrl('http://x.y/'),
          ]);
          expect([named.status, malformed.status]).toEqual([422, 422]);
          expect(named.json<object>()).toEqual({
            detail: [{ field: 'url', reason: 'must have a host name that exists and leads to public addresses only' }],
            code: 'invalid_request',
          });
        }
        const answers = await Promise.all([tryUrl(`https://${stranger.host}/`), tryUrl('http://x.y/')]);
        expect(answers.map(({ status }) => status)).toEqual([429, 422]);
        expect((await stranger.call('GET', PATH)).status).toBe(404);
      },
    );

    rule(
      ['endpoint.rule6.url', 'endpoint.put-webhook', 'webhook-settings.url'],
      'is accepted, and kept as sent, when it is public HTTPS: no list of hosts is needed',
      async () => {
        const accepted = urlTable('accept');
        accepted.push('https://hooks.example.com/'.padEnd(2048, 'a'));
        expect(accepted.length).toBeGreaterThan(20);
        for (const [index, url] of accepted.entries()) {
          if (index % PUTS_A_WINDOW === 0) await endWindows(contract.stack, merchant);
          const answer = await put(url);
          expect([url, answer.status, answer.json<object>()]).toEqual([
            url,
            200,
            { url, key_id: settings.key_id, events: ['PAID'] },
          ]);
        }
        expect(await readSettings()).toMatchObject({ url: accepted.at(-1), key_id: settings.key_id });
        await endWindows(contract.stack, merchant);
        const ascii = { url: 'https://xn--bcher-kva.example/pay', key_id: settings.key_id, events: ['PAID'] };
        expect((await put('https://Bücher.example/pay')).json<object>()).toEqual(ascii);
        expect(await readSettings()).toMatchObject(ascii);
      },
    );
  });
}
