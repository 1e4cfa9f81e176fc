import { authorProperties, textSchema, type Author } from '@quittance/contracts/author.ts';
import { betaSchemas } from '@quittance/contracts/http/quota/policy.ts';
import { standardBeta } from '@quittance/contracts/policy-defaults.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import type { ValidationItem } from '@quittance/http/errors.ts';
import { readValidJson, type JsonObject } from './json-body.ts';
import { shapeOf } from './shape.ts';

/** What a new merchant may create, as quota will keep it. */
export type Registration = {
  name: string;
  access_type: 'beta' | 'legacy';
  total_limit: number;
  /** Null means no daily cap. */
  daily_limit: number | null;
  /** Null for legacy, which never ends. */
  beta_duration_days: number | null;
};

/** The total of a legacy account is required; nothing else limits it. */
const legacy = { total_limit: 0, daily_limit: null, beta_duration_days: null };

const authorShape = shapeOf({ required: ['actor', 'reason'], properties: authorProperties });

const registrationShape = shapeOf({
  required: ['name', 'access_type', 'actor', 'reason'],
  properties: {
    ...authorProperties,
    name: textSchema(200),
    access_type: { enum: ['beta', 'legacy'] },
    ...betaSchemas,
  },
});

/** @throws HttpError 413, or 422 with every invalid field. */
export async function readAuthor(request: RouteRequest): Promise<Author> {
  return authorOf(await readValidJson(request, authorShape));
}

/**
 * A standard beta needs no numbers; a legacy account keeps its previous total, so that one must be said.
 * @throws HttpError 413, or 422 with every invalid field.
 */
export async function readRegistration(request: RouteRequest): Promise<{ registration: Registration; author: Author }> {
  const body = await readValidJson(request, (value) => [...registrationShape(value), ...legacyProblems(value)]);
  // The schema has just checked each of these fields.
  const { name, access_type, total_limit, daily_limit, beta_duration_days } = body as Partial<Registration>;
  const defaults = access_type === 'beta' ? standardBeta : legacy;
  const registration = {
    name: name ?? '',
    access_type: access_type ?? 'beta',
    total_limit: total_limit ?? defaults.total_limit,
    // An explicit null takes the daily cap away.
    daily_limit: daily_limit === undefined ? defaults.daily_limit : daily_limit,
    beta_duration_days: beta_duration_days ?? defaults.beta_duration_days,
  };
  return { registration, author: authorOf(body) };
}

function legacyProblems(value: JsonObject): ValidationItem[] {
  if (value['access_type'] !== 'legacy') return [];
  const problems: ValidationItem[] = [];
  if (value['total_limit'] === undefined)
    problems.push({ field: 'total_limit', reason: 'is required for legacy access' });
  if (value['beta_duration_days'] !== undefined) {
    problems.push({ field: 'beta_duration_days', reason: 'belongs to beta access only' });
  }
  return problems;
}

const authorOf = (body: JsonObject): Author => ({ actor: String(body['actor']), reason: String(body['reason']) });
