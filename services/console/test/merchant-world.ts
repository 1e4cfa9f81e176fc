import { randomUUID } from 'node:crypto';
import { eventually } from '@quittance/testkit/eventually.ts';
import { endWindows } from '../../api-gateway/test/gateway.ts';
import { insertUnmatched, pastUnmatched } from '../../payments/test/unmatched-fixtures.ts';
import type { World } from './world.ts';

/** In whatever a merchant writes. */
export const HOSTILE = '"><script>alert(1)</script>';

export type Shop = Awaited<ReturnType<typeof openShop>>;

/**
 * A merchant with everything that may be looked at: a payment that waits, one that was cancelled with a webhook event that nobody took, and
 * an unmatched transfer. All its texts are hostile.
 */
export async function openShop({ services }: World, name: string) {
  const registered = await services.merchant({ access_type: 'legacy', total_limit: 1000, name: `${name} ${HOSTILE}` });
  const { merchant_id: merchantId } = registered;
  const as = <T>(method: string, path: string, body?: object, headers = {}) =>
    services.asMerchant<T>(registered, method, path, body, headers);
  await as('PUT', '/merchant/profile', { display_name: `${name} ${HOSTILE}` });
  await as('PUT', '/merchant/webhook', { url: 'https://shop.example/hook', events: ['PAID', 'CANCELLED'] });
  const pay = async (wallet: string) => {
    const texts = { description: `${name} ${HOSTILE}`, order_id: `${name} ${HOSTILE}`, metadata: { note: HOSTILE } };
    const body = { amount: '1', merchant_wallet: wallet, ...texts };
    const headers = { 'idempotency-key': randomUUID() };
    const created = await as<{ payment_id: string; reference: string }>('POST', '/payments', body, headers);
    if (created.status !== 201) throw new Error(`creating answered ${created.status}`);
    return created.body;
  };
  const wallet = `0x${randomUUID().replaceAll('-', '')}00000000`;
  const cancelled = await pay(wallet);
  await as('POST', `/payments/${cancelled.payment_id}/cancel`);
  const payment = await pay(wallet);
  const late = pastUnmatched({
    ...{ merchant_id: merchantId, block_timestamp: new Date(), related_payment_id: cancelled.payment_id },
    ...{ amount_units: '900000', reason: 'underpaid' },
  });
  await insertUnmatched(services.pools.payments, [late]);
  const event = await eventually(async () => {
    const path = `/payments/${cancelled.payment_id}/webhooks`;
    const { deliveries } = (await as<{ deliveries: { event_id: string; attempts: number }[] }>('GET', path)).body;
    const [delivery] = deliveries;
    if (delivery === undefined || delivery.attempts === 0) throw new Error('nothing has been attempted yet');
    return delivery.event_id;
  });
  return {
    registered,
    merchantId,
    wallet,
    payment: payment.payment_id,
    reference: payment.reference,
    orderId: `${name} ${HOSTILE}`,
    cancelled: cancelled.payment_id,
    transactionId: late.transaction_id,
    event,
  };
}

/** An unmatched transfer that may be for any of these payments, the first one's merchant among theirs. */
export async function insertAmbiguous(
  { services }: World,
  candidates: readonly string[],
  more: Parameters<typeof pastUnmatched>[0],
): Promise<string> {
  const transfer = { ...pastUnmatched({ ...more, reason: 'ambiguous' }), candidates };
  await insertUnmatched(services.pools.payments, [transfer]);
  return transfer.transaction_id;
}

/** The browser of one of a merchant's people. However much a test looks at, it is not too much for a minute. */
export async function personOf(world: World, { merchantId }: Pick<Shop, 'merchantId'>, name: string) {
  const { services } = world;
  const path = `/merchants/${merchantId}/logins`;
  const { body } = await services.internal<{ credential: string }>('api-gateway', 'POST', path, { name });
  const rest = () =>
    Promise.all(['operator_sign_in', 'merchant_pages'].map((scope) => endWindows(services.pools.gateway, scope)));
  await rest();
  const browser = await world.browserOf(body.credential);
  return {
    ...browser,
    credential: body.credential,
    get: async (at: string) => (await rest(), browser.get(at)),
    post: async (at: string, fields: Record<string, string>) => (await rest(), browser.post(at, fields)),
    formToken: async () =>
      /name="form_token" value="([^"]+)"/.exec((await browser.get('/my/webhooks')).text)?.[1] ?? '',
  };
}
