import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { readValidJson } from './json-body.ts';
import { shapeOf } from './shape.ts';

const shape = shapeOf({ required: ['url'], properties: { url: { type: 'string' } } });

/**
 * Validates the text of PUT /merchant/webhook. Where the host's name resolves to is checked by webhook-dispatcher, which dials it.
 * @throws HttpError 413 for a body over 64 KiB, 422 with every invalid field.
 */
export async function readWebhookEndpoint(request: RouteRequest): Promise<{ url: string }> {
  const { url } = await readValidJson(request, (body) => {
    const check = typeof body['url'] === 'string' ? parseEndpointUrl(body['url']) : null;
    return [...shape(body), ...(check?.ok === false ? [{ field: 'url', reason: check.reason }] : [])];
  });
  return { url: String(url) };
}
