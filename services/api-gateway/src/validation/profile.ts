import { DISPLAY_NAME_MAX } from '@quittance/contracts/http/api-gateway/profile.ts';
import { isVisible } from '@quittance/contracts/visible.ts';
import type { ValidationItem } from '@quittance/http/errors.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { readValidJson } from './json-body.ts';
import { shapeOf } from './shape.ts';
import { textProblem } from './text.ts';

const shape = shapeOf({ required: ['display_name'], properties: { display_name: { type: ['string', 'null'] } } });

/**
 * Validates PUT /merchant/profile.
 * @throws HttpError 413 for a body over 64 KiB, 422 with every invalid field.
 */
export async function readProfile(request: RouteRequest): Promise<{ displayName: string | null }> {
  const { display_name: name } = await readValidJson(request, (body) => [
    ...shape(body),
    ...displayNameProblems(body['display_name']),
  ]);
  return { displayName: typeof name === 'string' ? name.normalize('NFC') : null };
}

/** One problem at most; a value that is no text is none of this. */
export function displayNameProblems(name: unknown): ValidationItem[] {
  if (typeof name !== 'string') return [];
  const text = name.normalize('NFC');
  const reason = textProblem(text, DISPLAY_NAME_MAX) ?? (isVisible(text) ? null : 'must have a visible character');
  return reason === null ? [] : [{ field: 'display_name', reason }];
}
