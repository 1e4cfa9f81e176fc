import type { Author } from '@quittance/contracts/author.ts';
import type { ResponseOf } from '@quittance/contracts/call.ts';
import { ConnectNotices, RenewNoticesKey } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { NOTIFIER } from '@quittance/contracts/service-name.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { KeyVault } from '@quittance/runtime/key-vault.ts';
import { announce } from '../endpoints/announce.ts';
import { findEndpoint, replaceKey, saveEndpoint } from '../endpoints/endpoint.sql.ts';
import { newSigningKey } from '../endpoints/signing-key.ts';
import { addressOf, type PrivateTarget } from '../sending/private-targets.ts';

type Dependencies = { pool: Pool; outbox: Outbox; vault: KeyVault; notifier: PrivateTarget | null };

/**
 * How the notifier becomes a merchant's endpoint. The URL is made here, from the operator's setting: a stolen key of the
 * notifier can send no merchant's events elsewhere.
 */
export const noticesRoutes = (dependencies: Dependencies): Route[] => [
  callRoute(ConnectNotices, ({ params, author }) => connect(dependencies, params.merchant_id, author)),
  callRoute(RenewNoticesKey, ({ params, body }) => renew(dependencies, params.merchant_id, body.replaces)),
];

const urlOf = ({ host }: PrivateTarget, merchantId: string): string => `https://${host}/hooks/${merchantId}`;

async function connect(
  { pool, outbox, vault, notifier }: Dependencies,
  merchantId: string,
  author: Author,
): Promise<ResponseOf<typeof ConnectNotices>> {
  if (notifier === null) throw new HttpError(404, 'There is no notifier');
  const { signingKey, offeredKey } = newSigningKey(vault);
  const endpoint = { merchantId, url: urlOf(notifier, merchantId), host: notifier.host };
  await transaction(pool, async (tx) => {
    const row = await saveEndpoint(tx, {
      ...endpoint,
      privateTarget: addressOf(notifier),
      events: ['PAID', 'TRANSFER_UNMATCHED'],
      offeredKey,
      author,
    });
    if (!row.isNew) await replaceKey(tx, merchantId, offeredKey, author);
    await announce(tx, outbox, merchantId, row);
  });
  return { key_id: offeredKey.keyId, signing_key: signingKey };
}

async function renew(
  { pool, vault, notifier }: Dependencies,
  merchantId: string,
  replaces: string,
): Promise<ResponseOf<typeof RenewNoticesKey>> {
  if (notifier === null) throw new HttpError(404, 'There is no notifier');
  const { signingKey, offeredKey } = newSigningKey(vault);
  await transaction(pool, async (tx) => {
    const endpoint = await findEndpoint(tx, merchantId, 'for update');
    // A merchant that has its own receiver by now keeps it, and its key.
    if (endpoint?.url !== urlOf(notifier, merchantId) || endpoint.key_id !== replaces)
      throw new HttpError(409, 'This is not the key of an endpoint at the notifier');
    await replaceKey(tx, merchantId, offeredKey, { actor: NOTIFIER, reason: null });
  });
  return { key_id: offeredKey.keyId, signing_key: signingKey };
}
