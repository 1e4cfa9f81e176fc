import type { ResponseOf } from '@quittance/contracts/call.ts';
import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import {
  ConfigureWebhook,
  ReadWebhook,
  RotateWebhookKey,
} from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { newId, newSecret } from '@quittance/contracts/ids.ts';
import { WebhookConfigured } from '@quittance/contracts/messages/webhook-configured.ts';
import { readJson } from '@quittance/http/server/body.ts';
import { HttpError, invalid, unavailable, type ValidationItem } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import { pathParameter, route, type Handle, type Route } from '@quittance/http/server/route.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import { DialError, NameNotFound } from '../sending/errors.ts';
import type { KeyVault } from '../endpoints/key-vault.ts';
import { publicAddresses, type Resolve } from '../sending/resolve.ts';
import { findEndpoint, replaceKey, saveEndpoint } from '../store/endpoint.ts';
import type { NewKey } from '../store/signing-key.ts';

type Dependencies = { pool: Pool; outbox: Outbox; vault: KeyVault; resolve: Resolve };

/** A merchant waits for this answer, and a name server that is slower than this may be asked again soon after. */
const DNS_TIMEOUT_MS = 1_000;

/** A merchant's endpoint and its signing key. The answer that creates a key shows it, and no other does. */
export const endpointRoutes = (dependencies: Dependencies): Route[] => [
  // Reads its body itself: the merchant gets these problems as they are.
  route({ method: ConfigureWebhook.method, path: ConfigureWebhook.path, handle: configure(dependencies) }),
  callRoute(ReadWebhook, ({ params }) => read(dependencies, params.merchant_id)),
  callRoute(RotateWebhookKey, ({ params }) => rotateKey(dependencies, params.merchant_id)),
];

/** 200 with `signing_key` the first time only; 422 for a URL the policy refuses; 503 while names cannot be resolved. */
const configure =
  ({ pool, outbox, vault, resolve }: Dependencies): Handle =>
  async (request) => {
    const { url, host } = await readJson(request, ConfigureWebhook.maxBodyBytes, parseBody);
    await checkHost(host, resolve);
    const merchantId = pathParameter(request.params, 'merchant_id');
    const { signingKey, offeredKey } = newSigningKey(vault);
    const { keyId, isNew } = await transaction(pool, async (tx) => {
      const saved = await saveEndpoint(tx, { merchantId, url, host, offeredKey });
      if (saved.isNew) {
        const configuredAt = rfc3339(saved.configuredAt);
        await outbox.send(tx, WebhookConfigured, { merchant_id: merchantId, configured_at: configuredAt });
      }
      return saved;
    });
    return { status: 200, body: { url, key_id: keyId, ...(isNew && { signing_key: signingKey }) } };
  };

async function read({ pool }: Dependencies, merchantId: string): Promise<ResponseOf<typeof ReadWebhook>> {
  const endpoint = await findEndpoint(pool, merchantId);
  if (endpoint === null) throw new HttpError(404, 'Webhook is not configured');
  return withTextTimes(endpoint);
}

async function rotateKey(
  { pool, vault }: Dependencies,
  merchantId: string,
): Promise<ResponseOf<typeof RotateWebhookKey>> {
  const { signingKey, offeredKey } = newSigningKey(vault);
  const replaced = await transaction(pool, (tx) => replaceKey(tx, merchantId, offeredKey));
  if (!replaced) throw new HttpError(409, 'Webhook is not configured');
  return { key_id: offeredKey.keyId, signing_key: signingKey };
}

/** @throws HttpError 422 naming every field that is wrong. */
function parseBody(body: Record<string, unknown>): { url: string; host: string } {
  const problems: ValidationItem[] = Object.keys(body)
    .filter((field) => field !== 'url')
    .map((field) => ({ field, reason: 'is not a field of this request' }));
  const { url } = body;
  if (url === undefined) problems.push({ field: 'url', reason: 'is required' });
  else if (typeof url !== 'string') problems.push({ field: 'url', reason: 'must be a string' });
  const check = typeof url === 'string' ? parseEndpointUrl(url) : null;
  if (check?.ok === false) problems.push({ field: 'url', reason: check.reason });
  if (problems.length > 0 || check?.ok !== true || typeof url !== 'string') throw invalid(...problems);
  return { url, host: check.endpoint.host };
}

/** Refuses at once what the first attempt would refuse. The answer does not reveal which private address a name leads to. */
async function checkHost(host: string, resolve: Resolve): Promise<void> {
  try {
    await publicAddresses(host, resolve, DNS_TIMEOUT_MS);
  } catch (error) {
    if (error instanceof NameNotFound) throw invalid({ field: 'url', reason: 'must have a host name that exists' });
    if (error instanceof DialError && error.category === 'blocked_address') {
      throw invalid({ field: 'url', reason: 'must lead to public addresses only' });
    }
    throw unavailable(error);
  }
}

function newSigningKey(vault: KeyVault): { signingKey: string; offeredKey: NewKey } {
  const keyId = newId('whk');
  const signingKey = newSecret('whsec');
  return { signingKey, offeredKey: { keyId, ...vault.seal(keyId, signingKey) } };
}
