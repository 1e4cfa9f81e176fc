import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import type { Answer, Shop } from '../../support/shop.ts';
import type { Order } from './shops.ts';
import type { World } from './world.ts';

type Ask = <T>(what: string, expected: readonly number[], call: () => Promise<Answer<T>>) => Promise<Answer<T> | null>;

/** All other requests of a shop, one at a time. */
export function looksOf(
  { stack }: World,
  shop: Shop,
  orders: readonly Order[],
  ask: Ask,
): (chance: Chance) => Promise<void> {
  const events = ['PAID', 'CHECKING', 'EXPIRED', 'CANCELLED', 'TRANSFER_UNMATCHED'];
  const today = new Date().toISOString().slice(0, 10);
  return async (chance) => {
    const own = orders.filter((order) => order.shop === shop && order.payment !== null);
    const payment = own.length === 0 ? null : chance.pick(own).payment;
    const get = (what: string, path: string) => ask(what, [200], () => shop.call('GET', path));
    const looks: (() => Promise<unknown>)[] = [
      () => get('list', '/payments?status=PAID'),
      () => get('page', '/payments/page?limit=5'),
      () => get('limits', '/merchant/limits'),
      () => get('report', `/merchant/report?from=${today}&to=${today}&group=day`),
      async () => {
        const url = `https://${shop.host}/webhooks`;
        const chosen = ['PAID', ...events.slice(1).filter(() => chance.happens(0.5))];
        await ask('webhook settings', [200], () => shop.call('PUT', '/merchant/webhook', { url, events: chosen }));
      },
      async () => {
        const rotated = await ask<{ key_id: string; signing_key: string }>('signing key', [200], () =>
          shop.call('POST', '/merchant/webhook/rotate-key'),
        );
        if (rotated !== null) await stack.backends.receiver.trust(rotated.body.key_id, rotated.body.signing_key);
      },
    ];
    if (payment !== null) {
      const { payment_id: id, payment_url: link } = payment;
      const token = link.split('/').at(-1) ?? '';
      looks.push(
        () => get('details', `/payments/${id}/details`),
        () => get('deliveries', `/payments/${id}/webhooks`),
        () => get('public status', `/payments/${token}`),
      );
    }
    await chance.pick(looks)();
  };
}
