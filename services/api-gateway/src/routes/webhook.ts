import {
  ConfigureWebhook,
  ReadWebhook,
  RotateWebhookKey,
  TestWebhook,
} from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { RetryEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ApplyWebhookChoice } from '@quittance/contracts/http/payments/webhook-choice.ts';
import { isId } from '@quittance/contracts/ids.ts';
import type { ServiceResponse } from '@quittance/http/client/request.ts';
import { pathParameter, type Reply, type Route } from '@quittance/http/server/route.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import type { Admission } from '../admission/admission.ts';
import { merchantRoute } from '../admission/merchant-route.ts';
import { bodiless, refuseLargeBody } from '../validation/body-limit.ts';
import { eventNotFound } from '../responses/errors.ts';
import { forward, successBody, type Upstreams } from '../upstream/response.ts';
import { rateLimits } from '../admission/rate-limits.ts';
import { readWebhookEndpoint } from '../validation/webhook-endpoint.ts';

/** The dispatcher's answer has taken its time already. */
const APPLY_TIMEOUT_MS = 500;

/** For the dispatcher: an attempt may take fifteen seconds. */
export const TEST_CALL_TIMEOUT_MS = 17_000;
const TEST_TIMEOUT_MS = TEST_CALL_TIMEOUT_MS + 1_000;

/** A merchant's webhook endpoint, its signing key, and the manual retry of an event. */
export const webhookRoutes = ({ admission, upstreams }: { admission: Admission; upstreams: Upstreams }): Route[] => [
  merchantRoute(admission, 'PUT /api/v1/merchant/webhook', {
    limit: rateLimits.webhookSettings,
    read: readWebhookEndpoint,
    handle: async ({ merchant, input }) => {
      const answer = await upstreams.webhooks.send(ConfigureWebhook, { params: merchant, body: input });
      if (input.events !== undefined) await applyChoice(upstreams, merchant, answer);
      return settingsOf(ConfigureWebhook, answer);
    },
  }),

  merchantRoute(admission, 'GET /api/v1/merchant/webhook', {
    limit: rateLimits.sharedReads,
    read: refuseLargeBody,
    handle: async ({ merchant }) =>
      settingsOf(ReadWebhook, await upstreams.webhooks.send(ReadWebhook, { params: merchant })),
  }),

  merchantRoute(admission, 'POST /api/v1/merchant/webhook/rotate-key', {
    limit: rateLimits.webhookSettings,
    read: refuseLargeBody,
    handle: async ({ merchant }) => forward(await upstreams.webhooks.send(RotateWebhookKey, { params: merchant })),
  }),

  {
    publicTimeoutMs: TEST_TIMEOUT_MS,
    ...merchantRoute(admission, 'POST /api/v1/merchant/webhook/test', {
      limit: rateLimits.webhookSettings,
      read: refuseLargeBody,
      handle: async ({ merchant }) => forward(await upstreams.webhookTests.send(TestWebhook, { params: merchant })),
    }),
  },

  merchantRoute(admission, 'POST /api/v1/merchant/webhook/events/:event_id/retry', {
    limit: rateLimits.manualRetry,
    read: bodiless<string>(({ params }) => pathParameter(params, 'event_id')),
    handle: async ({ merchant, input: eventId }) => {
      if (!isId('evt', eventId)) throw eventNotFound();
      const params = { ...merchant, event_id: eventId };
      const answer = await upstreams.webhooks.send(RetryEvent, { params });
      // The same bytes as above: an unknown event and another merchant's look the same.
      if (answer.status === 404) throw eventNotFound();
      return forward(answer);
    },
  }),
];

/** Which version they are is the services' own concern. */
function settingsOf(call: typeof ReadWebhook | typeof ConfigureWebhook, answer: ServiceResponse): Reply {
  const settings = successBody(call, answer);
  if (settings === null) return forward(answer);
  const { version: _version, ...shown } = settings;
  return { status: 200, body: shown };
}

/**
 * A merchant who has this answer is told what it chose from then on: payments, which raises the notices, would hear of a new choice by a
 * message a little later. When it cannot be told now, the message has to do, for the choice is stored and the key may be shown only here.
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
