import {
  ConfigureWebhook,
  ReadWebhook,
  RotateWebhookKey,
  TestWebhook,
} from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { RetryEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ApplyWebhookChoice } from '@quittance/contracts/http/payments/gate.ts';
import { isId } from '@quittance/contracts/ids.ts';
import type { ServiceResponse } from '@quittance/http/client/request.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Reply, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { type Admission, rateLimits } from '../limits/admission.ts';
import { merchantChange, merchantRead, assertBelowLimit } from '../limits/merchant-route.ts';
import { bodiless, refuseLargeBody, readValidJson } from '../request-body.ts';
import { forward, successBody, type Upstreams } from '../upstreams.ts';
import { TestWebhookAsPerson } from '@quittance/contracts/http/api-gateway/webhook-test.ts';
import { callReader, wayTo } from '@quittance/http/server/call-route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { insertAudit } from '../merchants/audit.sql.ts';
import { existingMerchant, merchantIdOf } from '../merchants/existing-merchant.ts';
import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import { checkOfSchema } from '@quittance/contracts/schema.ts';
import { type WebhookChoice, webhookChoices, webhookChoiceSchema } from '@quittance/contracts/webhook.ts';
import { shapeOf } from '../payments/shape.ts';

/** Short, because the call to webhook-dispatcher before it has used most of the request's time. */
const APPLY_TIMEOUT_MS = 500;

/** Of the call to webhook-dispatcher: an attempt may take fifteen seconds. */
export const TEST_CALL_TIMEOUT_MS = 17_000;
const TEST_TIMEOUT_MS = TEST_CALL_TIMEOUT_MS + 1_000;

const eventNotFound = (): HttpError => new HttpError(404, 'Webhook event not found');

type Dependencies = { admission: Admission; upstreams: Upstreams };

/** A merchant's webhook endpoint, its signing key, and the manual retry of an event. */
export const webhookRoutes = ({ admission, upstreams }: Dependencies): Route[] => [
  merchantChange(admission, 'PUT /api/v1/merchant/webhook', {
    right: 'settings',
    action: 'set_webhook',
    limit: rateLimits.webhookSettings,
    read: readWebhookEndpoint,
    handle: async ({ merchant, input }) => {
      const answer = await upstreams.webhooks.send(ConfigureWebhook, { params: merchant, body: input });
      if (input.events !== undefined) await applyChoice(upstreams, merchant, answer);
      return settingsOf(ConfigureWebhook, answer);
    },
  }),

  merchantRead(admission, '/api/v1/merchant/webhook', {
    limit: rateLimits.sharedReads,
    read: refuseLargeBody,
    handle: async ({ merchant }) =>
      settingsOf(ReadWebhook, await upstreams.webhooks.send(ReadWebhook, { params: merchant })),
  }),

  merchantChange(admission, 'POST /api/v1/merchant/webhook/rotate-key', {
    right: 'settings',
    action: 'rotate_webhook_key',
    limit: rateLimits.webhookSettings,
    read: refuseLargeBody,
    handle: async ({ merchant }) => forward(await upstreams.webhooks.send(RotateWebhookKey, { params: merchant })),
  }),

  {
    publicTimeoutMs: TEST_TIMEOUT_MS,
    ...merchantChange(admission, 'POST /api/v1/merchant/webhook/test', {
      right: 'orders',
      action: 'test_webhook',
      limit: rateLimits.webhookSettings,
      read: refuseLargeBody,
      handle: async ({ merchant }) => forward(await upstreams.webhookTests.send(TestWebhook, { params: merchant })),
    }),
  },

  merchantChange(admission, 'POST /api/v1/merchant/webhook/events/:event_id/retry', {
    right: 'orders',
    action: 'retry_event',
    limit: rateLimits.manualRetry,
    read: bodiless<string>(({ params }) => pathParameter(params, 'event_id')),
    handle: async ({ merchant, input: eventId }) => {
      if (!isId('evt', eventId)) throw eventNotFound();
      const answer = await upstreams.webhooks.send(RetryEvent, { params: { ...merchant, event_id: eventId } });
      // The same bytes as above: an unknown event and another merchant's look the same.
      if (answer.status === 404) throw eventNotFound();
      return forward(answer);
    },
  }),
];

/** Without `version`, which only our services use. */
function settingsOf(call: typeof ReadWebhook | typeof ConfigureWebhook, answer: ServiceResponse): Reply {
  const settings = successBody(call, answer);
  if (settings === null) return forward(answer);
  const { version: _version, ...shown } = settings;
  return { status: 200, body: shown };
}

/**
 * Applies a new choice of events in payments, which raises the notices. The message that follows would do it a little later; this way the
 * choice is in force when the merchant gets the answer. A failure is ignored: the choice is stored, the message follows, and the signing
 * key may be shown only in this answer.
 */
async function applyChoice(
  { payments }: Upstreams,
  params: { merchant_id: string },
  answer: ServiceResponse,
): Promise<void> {
  const saved = successBody(ConfigureWebhook, answer);
  if (saved === null) return;
  const { events, version } = saved;
  const applied = payments.send(ApplyWebhookChoice, { params, body: { events, version } });
  await withTimeout(APPLY_TIMEOUT_MS, applied).catch(() => undefined);
}

/** A test event that a merchant's person sends in the console. It counts towards the same limit as the merchant's own calls. */
export function webhookTestRoute({ db, admission, upstreams }: Dependencies & { db: Queryable }): Route {
  const read = callReader(TestWebhookAsPerson);
  const limit = rateLimits.webhookSettings;
  return {
    ...wayTo(TestWebhookAsPerson),
    handle: async (request) => {
      const { params, author } = await read(request);
      const { merchant_id: merchantId } = await existingMerchant(db, merchantIdOf({ params }));
      assertBelowLimit(limit, await admission.count(merchantId, limit));
      await insertAudit(db, { merchantId, action: 'test_webhook', author, change: { before: null, after: {} } });
      return forward(await upstreams.webhookTests.send(TestWebhook, { params: { merchant_id: merchantId } }));
    },
  };
}

const shape = shapeOf({ required: ['url'], properties: { url: { type: 'string' }, events: {} } });

/** Without `events` the merchant's earlier choice stays. */
type WebhookEndpoint = { url: string; events?: WebhookChoice[] };

const isChoice = checkOfSchema<WebhookChoice[]>({ ...webhookChoiceSchema, contains: { const: 'PAID' } });

/**
 * Validates the text of PUT /merchant/webhook. webhook-dispatcher checks the addresses of the host name, because it dials them. It also
 * checks names of private networks, in which the operator may have allowed a receiver for this merchant.
 * @throws HttpError 413 for a body over 64 KiB, 422 with every invalid field.
 */
async function readWebhookEndpoint(request: RouteRequest): Promise<WebhookEndpoint> {
  const { url, events } = await readValidJson(request, (body) => {
    const check = typeof body['url'] === 'string' ? parseEndpointUrl(body['url'], () => true) : null;
    return [
      ...shape(body),
      ...(check?.ok === false ? [{ field: 'url', reason: check.reason }] : []),
      ...('events' in body && !isChoice(body['events']) ? [{ field: 'events', reason: choiceRule }] : []),
    ];
  });
  return { url: String(url), ...(isChoice(events) && { events }) };
}

const choiceRule = `must be an array that contains PAID, out of ${webhookChoices.join(', ')}, without repeats`;
