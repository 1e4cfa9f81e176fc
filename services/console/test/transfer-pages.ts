import { describe, expect, test } from '@jest/globals';
import { parseAddress } from '@quittance/contracts/address.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { insertUnmatched, pastUnmatched } from '../../payments/test/unmatched-fixtures.ts';
import { insertAmbiguous } from './merchant-world.ts';
import type { World } from './world.ts';

type Browser = Awaited<ReturnType<World['browserOf']>>;

/** A merchant with a payment of 1 USDT on its wallet, and who looks at it; filled before the first test runs. */
type Scene = {
  readonly world: World;
  readonly merchant: string;
  readonly payment: string;
  readonly wallet: string;
  /** One more payment on that wallet. */
  create(amount: string): Promise<string>;
  readonly browsers: Record<'viewer' | 'support', Browser>;
};

/** Money that paid no payment, as operators find it and accept it. */
export function transferPages(scene: Scene): void {
  describe('pages of transfers', () => {
    test('show unmatched transfers with the one payment that each may be for, and the way to accept it', async () => {
      const block_timestamp = new Date();
      const late = pastUnmatched({
        ...{ merchant_id: scene.merchant, block_timestamp, related_payment_id: scene.payment },
        ...{ amount_units: '900000', reason: 'underpaid' },
      });
      const others = pastUnmatched({ merchant_id: newId('mer'), block_timestamp });
      await insertUnmatched(scene.world.services.pools.payments, [late, others]);
      const accept = `/payments/${scene.payment}/accept?transaction_id=${late.transaction_id}&amp;index=0`;
      const all = await scene.browsers.support.get('/transfers');
      expect(all.status).toBe(200);
      for (const text of ['0.90 USDT', '1.00 USDT', 'underpaid', 'order 7', accept, others.transaction_id])
        expect(all.text).toContain(text);
      expect((await scene.browsers.viewer.get('/transfers')).text).not.toContain(accept);
      expect((await scene.browsers.support.get(`/payments?q=0x${late.transaction_id}`)).text).toContain(accept);
      const own = await scene.browsers.support.get(`/merchants/${scene.merchant}/transfers`);
      expect([own.status, own.text.includes(late.transaction_id)]).toEqual([200, true]);
      expect(own.text).not.toContain(others.transaction_id);
      expect((await scene.browsers.support.get(accept.replace('&amp;', '&'))).text).toContain('0.9 USDT');
      expect((await scene.browsers.support.get('/transfers?cursor=forged')).status).toBe(422);
    });

    test('name none of several payments as the one, and ask who accepts for one of them how many there are', async () => {
      const [first, second] = [await scene.create('2'), await scene.create('3')];
      const more = { merchant_id: scene.merchant, block_timestamp: new Date(), amount_units: '2500000' };
      const recipient = parseAddress(scene.wallet)?.address ?? '';
      const id = await insertAmbiguous(scene.world, [first, second], { ...more, recipient });
      const { get, submit } = scene.browsers.support;
      for (const path of ['/transfers', `/wallets/${scene.wallet}`, `/payments?q=${id}`, `/payments/${first}`]) {
        const { text } = await get(path);
        expect([path, /May be for 2 payments\s*<ul class="candidates">/.test(text)]).toEqual([path, true]);
        for (const one of [first, second])
          expect([path, text.includes(`href="/payments/${one}"`)]).toEqual([path, true]);
      }
      const choose = `/transfers/${id}/0/accept`;
      expect((await get('/transfers')).text).toContain(`href="${choose}"`);
      const choices = (await get(choose)).text;
      expect(choices).toContain('Payments that it may be for');
      const accept = (one: string) => `/payments/${one}/accept?transaction_id=${id}&index=0`;
      for (const one of [first, second]) expect(choices).toContain(accept(one).replace('&', '&amp;'));
      expect(choices).not.toContain(`/payments/${scene.payment}/accept`);
      const question = (await get(accept(first))).text;
      expect(question).toContain('This transfer may be for 2 payments');
      expect(question).toMatch(/<input type="checkbox" name="confirm_candidates" value="2" required/);
      expect(question).toContain(`href="/payments/${second}"`);
      // As after a page that showed fewer of them.
      for (const given of [{}, { confirm_candidates: '3' }]) {
        const again = await submit(accept(first), { ...given, reason: 'the customer has its id' });
        expect(again.status).toBe(409);
        for (const text of ['Look again', 'may be for 2 payments', 'name="reason"']) expect(again.text).toContain(text);
      }
      // Then the chain is asked, and nobody answers for it here.
      const confirmed = await submit(accept(first), { confirm_candidates: '2', reason: 'the customer has its id' });
      expect(confirmed.status).toBe(503);
    });

    test('let somebody choose the payment of a transfer that seems to be meant for none', async () => {
      const wallet = parseAddress(scene.wallet)?.address ?? '';
      const lost = pastUnmatched({ merchant_id: scene.merchant, block_timestamp: new Date(), recipient: wallet });
      await insertUnmatched(scene.world.services.pools.payments, [lost]);
      const choose = `/transfers/${lost.transaction_id}/0/accept`;
      for (const path of ['/transfers', `/payments?q=${lost.transaction_id}`])
        expect((await scene.browsers.support.get(path)).text).toContain(`href="${choose}"`);
      expect((await scene.browsers.viewer.get('/transfers')).text).not.toContain(choose);
      const accept = `/payments/${scene.payment}/accept?transaction_id=${lost.transaction_id}&amp;index=0`;
      for (const asked of ['', '?payment=order+7', `?payment=${scene.payment}`])
        expect((await scene.browsers.support.get(choose + asked)).text).toContain(accept);
      const other = await scene.browsers.support.get(`${choose}?payment=order+8`);
      expect([other.status, other.text.includes(accept)]).toEqual([200, false]);
      expect((await scene.browsers.support.get(`/transfers/${'b'.repeat(64)}/0/accept`)).status).toBe(404);
    });
  });
}
