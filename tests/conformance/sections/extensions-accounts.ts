import { beforeAll, describe, expect } from '@jest/globals';
import type { NewApiKey } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { unlimited } from '@quittance/contracts/access.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { asOperator } from '../../support/operator.ts';
import { fewAtATime, send } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { limitsOf } from '../support/access.ts';
import { expectAdmitted, repeated } from '../support/counted.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { tokenOf } from '../../support/paying.ts';
import { protectedEndpoints, type Endpoint } from '../../support/protected-endpoints.ts';
import { fieldsOf } from '../support/refusals.ts';
import { rule } from '../support/rule.ts';

const PROFILE = '/api/v1/merchant/profile';

/** Several API keys, the profile and access without limits, beyond the interface document. */
export function extensionsAccountsSection(contract: Contract): void {
  describe('extensions: accounts', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const operate = <T>(path: string, body: object) =>
      asOperator<T>(contract.stack, 'POST', `/merchants/${merchant.merchantId}${path}`, body);
    const addKey = async (name: string, scope: 'all' | 'read') =>
      (await operate<NewApiKey>('/api-keys', { name, scope })).api_key;
    const withKey = (key: string) => ({ headers: { 'X-API-Key': key } });
    const read = (key: string) => merchant.call('GET', PROFILE, withKey(key));

    rule(
      'extensions.keys.read',
      'a read key works at every protected GET and is 401 at every other endpoint',
      async () => {
        const key = await addKey('reports', 'read');
        const endpoints: Endpoint[] = [
          ...protectedEndpoints,
          { method: 'GET', path: PROFILE, call: {} },
          { method: 'PUT', path: PROFILE, call: { body: { display_name: 'Another' } } },
        ];
        const statuses = await fewAtATime(
          endpoints.map(({ method, path, call }) => async () => {
            const answer = await merchant.call(method, path, {
              ...call,
              headers: { ...call.headers, ...withKey(key).headers },
            });
            return [method, path, answer.status === 401 ? 'refused' : 'admitted'];
          }),
        );
        expect(statuses).toEqual(
          endpoints.map(({ method, path }) => [method, path, method === 'GET' ? 'admitted' : 'refused']),
        );
      },
    );

    rule('extensions.keys.revoke', 'a revoked key is 401 at once at every replica, and no other key is', async () => {
      const [gone, kept] = [await addKey('gone', 'all'), await addKey('kept', 'all')];
      const ask = (key: string) =>
        Promise.all(
          contract.stack.services['api-gateway'].replicas.map(
            async ({ url }) => (await send('GET', `${url}${PROFILE}`, withKey(key))).status,
          ),
        );
      expect(await ask(gone)).toEqual([200, 200]);
      await operate('/api-keys/revoke', { name: 'gone' });
      expect([await ask(gone), await ask(kept), await ask(merchant.apiKey)]).toEqual([
        [401, 401],
        [200, 200],
        [200, 200],
      ]);
    });

    rule('extensions.keys.rotate', 'rotate-key replaces the first key and leaves the others', async () => {
      const rotated = await openMerchant(contract.stack, { webhook: false });
      const { api_key: other } = await asOperator<NewApiKey>(
        contract.stack,
        'POST',
        `/merchants/${rotated.merchantId}/api-keys`,
        { name: 'other', scope: 'all' },
      );
      const answer = await rotated.call('POST', '/api/v1/merchant/rotate-key', {
        headers: { 'secret-key': rotated.rotationSecret },
      });
      const { new_api_key: first } = answer.json<{ new_api_key: string }>();
      const statuses = [rotated.apiKey, first, other].map(async (key) => (await read(key)).status);
      expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
    });

    rule(
      'extensions.keys.counters',
      'all keys of a merchant share its counters, whichever of them is used',
      async () => {
        const key = await addKey('counted', 'all');
        const body = { url: 'https://never.example.com/hooks' };
        let turn = 0;
        const answers = await repeated(14, () => {
          const asked = turn++ % 2 === 0 ? withKey(key) : {};
          return merchant.call('PUT', '/api/v1/merchant/webhook', { body, ...asked });
        });
        // Setting the webhook used one of the ten.
        expectAdmitted(answers, 200, 9);
      },
    );

    rule(
      'extensions.profile',
      'the name is kept in NFC, read back, shown on the page as text, and cleared',
      async () => {
        const shop = await openMerchant(contract.stack);
        const save = (name: string | null) => shop.call('PUT', PROFILE, { body: { display_name: name } });
        const link = `${contract.stack.edge_url}/pay/${tokenOf(await shop.created())}`;
        expect((await shop.call('GET', PROFILE)).json()).toMatchObject({ display_name: null });
        expect(await save('Cafe\u0301 <img src=x onerror=alert(1)>')).toMatchObject({ status: 200 });
        const named = { display_name: 'Café <img src=x onerror=alert(1)>' };
        expect((await shop.call('GET', PROFILE)).json()).toMatchObject(named);
        const page = async () => (await send('GET', link)).text;
        await eventually(async () => expect(await page()).toContain('Café &lt;img src=x onerror=alert(1)&gt;'));
        expect(await page()).not.toContain('<img src=x');
        expect((await save(null)).json()).toMatchObject({ display_name: null });
        await eventually(async () => expect(await page()).not.toContain('Café'));
      },
    );

    rule('extensions.profile', 'an invalid name is 422, an unknown field too, and nothing is changed', async () => {
      const shop = await openMerchant(contract.stack, { webhook: false });
      const bodies = [
        ...['', 'x'.repeat(61), 'a\u0000', 'a\u009fb', '\u202eb', 'a\u2066b', 7, true, ['x'], {}].map((name) => ({
          display_name: name,
        })),
        {},
      ];
      const refused = await fewAtATime(
        bodies.map((body) => async () => fieldsOf(await shop.call('PUT', PROFILE, { body }))),
      );
      expect(refused).toEqual(bodies.map(() => ['display_name']));
      const more = { display_name: 'Shop', logo: 'x' };
      expect(fieldsOf(await shop.call('PUT', PROFILE, { body: more }))).toEqual(['logo']);
      expect((await shop.call('GET', PROFILE)).json()).toMatchObject({ display_name: null });
      expect((await shop.call('PUT', PROFILE, { body: { display_name: '🍕'.repeat(60) } })).status).toBe(200);
    });

    rule(
      'extensions.profile.look',
      'is on the page, field by field, and frames are refused until a site is named',
      async () => {
        const shop = await openMerchant(contract.stack);
        const link = `${contract.stack.edge_url}/pay/${tokenOf(await shop.created())}`;
        const framing = async () => String((await send('GET', link)).headers['content-security-policy']);
        expect(await framing()).toContain("frame-ancestors 'none'");
        // One transparent pixel.
        const logo = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==';
        const support = { support_url: 'https://shop.example/help', support_email: 'help@shop.example' };
        const look = { display_name: 'Corner Shop', logo, accent_color: '#0a7d54', ...support };
        expect(await shop.call('PUT', PROFILE, { body: look })).toMatchObject({ status: 200 });
        const site = { embed_origins: ['https://shop.example'] };
        expect((await shop.call('PUT', PROFILE, { body: site })).json()).toEqual({ ...look, ...site });
        expect((await shop.call('GET', PROFILE)).json()).toEqual({ ...look, ...site });
        await eventually(async () => expect(await framing()).toMatch(/frame-ancestors https:\/\/shop\.example$/));
        const text = await eventually(async () => {
          const page = (await send('GET', link)).text;
          const parts = [
            '"https://shop.example/help"',
            '"mailto:help@shop.example?subject=',
            '/assets/accents/0a7d54.css"',
          ];
          for (const part of parts) expect(page).toContain(part);
          return page;
        });
        const [, image = ''] = /<img class="logo" src="([^"]+)"/.exec(text) ?? [];
        const shown = await send('GET', `${contract.stack.edge_url}${image}`);
        expect(shown).toMatchObject({
          status: 200,
          headers: { 'content-type': 'image/png', 'x-content-type-options': 'nosniff' },
        });
      },
    );

    rule('extensions.profile', 'a change counts with the webhook settings', async () => {
      const shop = await openMerchant(contract.stack, { webhook: false });
      const answers = await repeated(12, () => shop.call('PUT', PROFILE, { body: { display_name: 'Shop' } }));
      expectAdmitted(answers, 200, 10);
      expect((await shop.call('POST', '/api/v1/merchant/webhook/rotate-key')).status).toBe(429);
    });

    rule(
      'extensions.unlimited',
      'the record of an account without limits says legacy, and it creates at once',
      async () => {
        const own = await openMerchant(contract.stack, unlimited);
        await own.created();
        expect(await limitsOf(own)).toMatchObject({
          ...{ access_type: 'legacy', creation_allowed: true, creation_block_reason: null },
          ...{ beta_expires_at: null, daily_limit: null, daily_left: null, total_limit: 1_000_000_000 },
        });
      },
    );
  });
}
