import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import { checkOfSchema } from '@quittance/contracts/schema.ts';
import { type WebhookChoice, webhookChoices, webhookChoiceSchema } from '@quittance/contracts/webhook.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { readValidJson } from './json-body.ts';
import { shapeOf } from './shape.ts';

const shape = shapeOf({ required: ['url'], properties: { url: { type: 'string' }, events: {} } });

/** `events` is absent where the merchant said nothing about it. */
export type WebhookEndpoint = { url: string; events?: WebhookChoice[] };

const isChoice = checkOfSchema<WebhookChoice[]>({ ...webhookChoiceSchema, contains: { const: 'PAID' } });

/**
 * Validates the text of PUT /merchant/webhook. Where the host's name resolves to is checked by webhook-dispatcher, which dials it,
 * and so is a name that only means something inside a network: the operator may have named a receiver there for this merchant.
 * @throws HttpError 413 for a body over 64 KiB, 422 with every invalid field.
 */
export async function readWebhookEndpoint(request: RouteRequest): Promise<WebhookEndpoint> {
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
