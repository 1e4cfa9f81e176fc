import type { ResponseOf } from '@quittance/contracts/call.ts';
import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import {
  ConfigureWebhook,
  ReadWebhook,
  RotateWebhookKey,
  TestWebhook,
  type TestedWebhook,
} from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { WebhookChoice } from '@quittance/contracts/webhook.ts';
import { conflict, HttpError, invalid, unavailable } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { createKeyedQueue } from '@quittance/runtime/concurrency/keyed-queue.ts';
import type { KeyVault, SealedSecret } from '@quittance/runtime/key-vault.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { asMerchantsSee } from '../events/reads.sql.ts';
import { SendError, NameNotFound } from '../sending/errors.ts';
import { addressOf, findPrivateTarget, type PrivateTarget } from '../sending/private-targets.ts';
import { publicAddresses, type Resolve } from '../sending/resolve.ts';
import { findEndpoint, findTarget, probeEndpoint, replaceKey, saveEndpoint } from './endpoint.sql.ts';
import { announce } from './announce.ts';
import { newSigningKey } from './signing-key.ts';
import type { Sender } from '../sending/sender.ts';

type Dependencies = {
  pool: Pool;
  outbox: Outbox;
  vault: KeyVault;
  resolve: Resolve;
  privateTargets?: readonly PrivateTarget[];
  sendTest: TestSender;
};

/** Short, because a merchant waits for the answer. After a 503 it may try again. */
const DNS_TIMEOUT_MS = 1_000;

/** A merchant's endpoint and its signing key. Only the answer that creates a key shows it. */
export const endpointRoutes = (dependencies: Dependencies): Route[] => [
  callRoute(ConfigureWebhook, ({ params, body }) => configure(dependencies, params.merchant_id, body)),
  callRoute(ReadWebhook, async ({ params }) => {
    const endpoint = await findEndpoint(dependencies.pool, params.merchant_id);
    if (endpoint === null) throw new HttpError(404, 'Webhook is not configured');
    return withTextTimes(endpoint);
  }),
  callRoute(RotateWebhookKey, ({ params }) => rotateKey(dependencies, params.merchant_id)),
  callRoute(TestWebhook, ({ params }) => test(dependencies, params.merchant_id)),
];

/** 200, the first time with `signing_key`; 422 for a URL that the policy refuses; 503 while names cannot be resolved. */
async function configure(
  { pool, outbox, vault, resolve, privateTargets = [] }: Dependencies,
  merchantId: string,
  given: { url: string; events?: WebhookChoice[] },
): Promise<ResponseOf<typeof ConfigureWebhook>> {
  const targetAt = (host: string) => findPrivateTarget(privateTargets, merchantId, host);
  const check = parseEndpointUrl(given.url, (host) => targetAt(host) !== undefined);
  if (!check.ok) throw invalid({ field: 'url', reason: check.reason });
  const { url, host } = check.endpoint;
  const target = targetAt(host);
  if (target === undefined) await checkHost(host, resolve);
  const privateTarget = target && addressOf(target);
  const { signingKey, offeredKey } = newSigningKey(vault);
  const saved = await transaction(pool, async (tx) => {
    const row = await saveEndpoint(tx, { merchantId, url, host, privateTarget, events: given.events, offeredKey });
    await announce(tx, outbox, merchantId, row);
    return row;
  });
  const { active_key_id: keyId, isNew, events, version } = saved;
  return { url, key_id: keyId, events, version, ...(isNew && { signing_key: signingKey }) };
}

async function test({ pool, sendTest }: Dependencies, merchantId: string): Promise<ResponseOf<typeof TestWebhook>> {
  const target = await findTarget(pool, merchantId);
  if (target === null) throw notConfigured();
  const tested = await sendTest(merchantId, target);
  // A receiver that works again need not wait for its circuit. A failed test changes nothing.
  if (tested.delivered) await transaction(pool, (tx) => probeEndpoint(tx, merchantId));
  return asMerchantsSee(tested);
}

async function rotateKey(
  { pool, vault }: Dependencies,
  merchantId: string,
): Promise<ResponseOf<typeof RotateWebhookKey>> {
  const { signingKey, offeredKey } = newSigningKey(vault);
  const replaced = await transaction(pool, (tx) => replaceKey(tx, merchantId, offeredKey));
  if (!replaced) throw notConfigured();
  return { key_id: offeredKey.keyId, signing_key: signingKey };
}

const notConfigured = (): HttpError => conflict('webhook_not_configured', 'Webhook is not configured');

/**
 * Refuses a host that the first attempt would refuse. Unknown names and names with private addresses get the same answer: different ones
 * would reveal which names exist in our network.
 */
async function checkHost(host: string, resolve: Resolve): Promise<void> {
  try {
    await publicAddresses(host, resolve, DNS_TIMEOUT_MS);
  } catch (error) {
    const isBlocked = error instanceof SendError && error.category === 'blocked_address';
    if (!isBlocked && !(error instanceof NameNotFound)) throw unavailable(error);
    throw invalid({ field: 'url', reason: 'must have a host name that exists and leads to public addresses only' });
  }
}

type TestSender = ReturnType<typeof createTestSender>;

/** Concurrent tests in this process, each of up to fifteen seconds. */
const MAX_TESTS = 64;
/** Of these, tests of one host. */
const TESTS_PER_HOST = 4;

/**
 * Sends test events: signed and sent like all others, with the same rules and time limits, but once and without a record. They have their own
 * connections, so that no delivery waits for one, and their results change no circuit and no pace.
 */
export function createTestSender({ sender, vault }: { sender: Sender; vault: KeyVault }) {
  let running = 0;
  const perHost = createKeyedQueue({ perKey: TESTS_PER_HOST });

  function open(keyId: string, sealed: SealedSecret): string {
    try {
      return vault.open(keyId, sealed);
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** @throws HttpError 503 while too many tests are running, or if the signing key does not open. */
  return async (
    merchantId: string,
    { url, key_id: keyId, ...sealed }: { url: string; key_id: string } & SealedSecret,
  ): Promise<TestedWebhook> => {
    if (running >= MAX_TESTS) throw unavailable(new Error(`${running} tests of endpoints are running`));
    const secret = open(keyId, sealed);
    const eventId = newId('evt');
    running += 1;
    try {
      const attempt = { eventId, merchantId, url, keyId, secret, body: testBody(eventId) };
      const result = await perHost(new URL(url).host, () => sender.send(attempt));
      return {
        event_id: eventId,
        delivered: result.errorCategory === null,
        http_status: result.httpStatus,
        error_category: result.errorCategory,
        duration_ms: result.durationMs,
      };
    } finally {
      running -= 1;
    }
  };
}

const testBody = (eventId: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      event_id: eventId,
      event_type: 'test',
      payment_id: null,
      status: 'TEST',
      expected_amount: '0',
      transaction_id: null,
      transaction_event_index: null,
      description: 'Test event',
    }),
  );
