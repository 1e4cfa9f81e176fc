import { describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { World } from './world.ts';

type Browser = Awaited<ReturnType<World['browserOf']>>;

/** A merchant, and who looks; filled before the first test runs. */
type Scene = {
  readonly world: World;
  readonly merchant: string;
  readonly browsers: Record<'viewer' | 'support' | 'admin', Browser>;
};

/** Accounts of merchants, of their people and of operators, as the console makes and ends them. @param hostile markup. */
export function peoplePages(scene: Scene, hostile: string): void {
  describe('pages of accounts', () => {
    test('registers a merchant, whose credentials are shown once and who is offered what its state allows', async () => {
      const { submit, get } = scene.browsers.admin;
      const created = await submit('/merchants/new', { name: hostile, access: 'beta', reason: 'a new shop' });
      expect([created.status, created.headers.get('cache-control'), created.text.includes('<script>alert')]).toEqual([
        ...[200, 'no-store', false],
      ]);
      const [, id = '', , key = ''] = /(mer_\w{32})(.|\n)*?(qk_[\w-]{43})/.exec(created.text) ?? [];
      const offered = async () => {
        const { text } = await get(`/merchants/${id}`);
        expect(text).not.toContain(key);
        const names = [...text.matchAll(new RegExp(`/merchants/${id}/([a-z-]+)"`, 'g'))].map(([, name = '']) => name);
        return ['activate', 'extend', 'pause', 'resume', 'move-to-beta'].filter((name) => names.includes(name));
      };
      // The policy follows the registration by a message.
      await eventually(async () => expect(await offered()).toEqual(['activate', 'pause']));
      expect((await submit(`/merchants/${id}/activate`, { reason: 'it has them' })).status).toBe(303);
      expect(await offered()).toEqual(['extend', 'pause']);
      expect((await submit(`/merchants/${id}/pause`, { reason: 'a question' })).status).toBe(303);
      expect(await offered()).toEqual(['extend', 'resume']);
    });

    test('gives a person of a merchant a login, makes a link that signs in once, and ends it', async () => {
      const { submit, get } = scene.browsers.support;
      const added = await submit(`/merchants/${scene.merchant}/add-login`, { name: 'mia', reason: 'she asked' });
      expect([added.status, /qm_[\w-]{43}/.test(added.text)]).toEqual([200, true]);
      const path = `/merchants/${scene.merchant}/logins/mia`;
      expect((await get(`/merchants/${scene.merchant}`)).text).toContain(`href="${path}/sign-in-link"`);
      expect((await scene.browsers.viewer.get(`/merchants/${scene.merchant}`)).text).not.toContain(path);
      const made = (await submit(`${path}/sign-in-link`, { reason: 'she lost it' })).text;
      const link = /\/sign-in\/link\/ql_[\w-]{43}/.exec(made)?.[0] ?? '';
      expect((await scene.world.ask('POST', '/sign-in/link', {}, { link: link.split('/').at(-1) ?? '' })).status).toBe(
        303,
      );
      expect((await submit(`${path}/disable`, { reason: 'she left' })).status).toBe(303);
      expect((await get(`/merchants/${scene.merchant}`)).text).not.toContain(path);
    });

    test('gives an operator an account, and takes it away', async () => {
      const { submit, get } = scene.browsers.admin;
      const added = await submit('/operators/new', { name: 'otto', role: 'support', reason: 'a new colleague' });
      const credential = /qo_[\w-]{43}/.exec(added.text)?.[0] ?? '';
      expect((await scene.world.signIn(credential)).status).toBe(303);
      expect((await get('/operators')).text).toContain('href="/operators/otto/disable"');
      for (const role of ['viewer', 'support'] as const)
        expect([role, (await scene.browsers[role].get('/operators')).status]).toEqual([role, 403]);
      expect((await submit('/operators/otto/disable', { reason: 'he left' })).status).toBe(303);
      expect((await scene.world.signIn(credential)).status).toBe(401);
      expect((await get('/audit?only=changes')).text).toContain('a new colleague');
    });
  });
}
