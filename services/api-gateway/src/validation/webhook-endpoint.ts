import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { BODY_MAX_BYTES } from '../body-limit.ts';
import { invalid } from '@quittance/http/errors.ts';
import { readJsonBody } from './json-body.ts';
import { shapeOf } from './shape.ts';

const shape = shapeOf({ required: ['url'], properties: { url: { type: 'string' } } });

/**
 * Validates PUT /merchant/webhook as far as the text goes. Where the host's name leads is for webhook-dispatcher to say, which dials it.
 * @throws HttpError 413 for a body over 64 KiB, 422 with every invalid field.
 */
export async function readWebhookEndpoint(request: RouteRequest): Promise<{ url: string }> {
  const { value, problems } = await readJsonBody(request, BODY_MAX_BYTES);
  const found = [...problems, ...(value === null ? [] : shape(value))];
  const url = value?.['url'];
  const check = typeof url === 'string' ? parseEndpointUrl(url) : null;
  if (check?.ok === false) found.push({ field: 'url', reason: check.reason });
  if (found.length > 0 || typeof url !== 'string') throw invalid(...found);
  return { url };
}
