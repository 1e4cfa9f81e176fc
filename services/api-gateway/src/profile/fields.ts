import { DISPLAY_NAME_MAX, EMBED_ORIGINS_MAX, type Profile } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { returnUrlProblem } from '@quittance/contracts/api/return-url.ts';
import type { ValidationItem } from '@quittance/http/errors.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { textProblem } from '../payments/creation.ts';
import { shapeOf } from '../payments/shape.ts';
import { readValidJson, type JsonObject } from '../request-body.ts';
import { checkLogo } from './logo.ts';

/** The fields that a request sets; absent ones stay as they are. */
export type ProfileChange = Partial<Profile>;

type FieldRules = { localUrls: boolean };

const text = { type: ['string', 'null'] };
const shape = shapeOf({
  required: [],
  properties: {
    display_name: text,
    logo: text,
    accent_color: text,
    support_url: text,
    support_email: text,
    embed_origins: { type: ['array', 'null'] },
  },
});

/**
 * Validates PUT /merchant/profile.
 * @throws HttpError 413 for a body over 64 KiB, 422 with every invalid field.
 */
export async function readProfile(request: RouteRequest, rules: FieldRules): Promise<ProfileChange> {
  const body = await readValidJson(request, (value) => [...shape(value), ...profileProblems(value, rules)]);
  return normalized(body);
}

/** The schema reports values of a wrong type. */
export function profileProblems(change: JsonObject, { localUrls }: FieldRules): ValidationItem[] {
  // Before there were other fields, the name was required.
  if (Object.keys(change).length === 0) return [{ field: 'display_name', reason: 'or another field is required' }];
  const problems: [field: keyof Profile, reason: string | null][] = [
    ['display_name', ofText(change['display_name'], (name) => textProblem(name.normalize('NFC'), DISPLAY_NAME_MAX))],
    ['logo', ofText(change['logo'], logoProblem)],
    ['accent_color', ofText(change['accent_color'], colorProblem)],
    ['support_url', ofText(change['support_url'], (url) => returnUrlProblem(url, localUrls))],
    ['support_email', ofText(change['support_email'], emailProblem)],
    [
      'embed_origins',
      Array.isArray(change['embed_origins']) ? originsProblem(change['embed_origins'], localUrls) : null,
    ],
  ];
  return problems.flatMap(([field, reason]) => (reason === null ? [] : [{ field, reason }]));
}

/** The name in NFC, the color in lower case, and the logo without what is not needed to show it. */
export function normalized(change: ProfileChange): ProfileChange {
  const { display_name: name, logo, accent_color: color } = change;
  return {
    ...change,
    ...(typeof name === 'string' && { display_name: name.normalize('NFC') }),
    ...(typeof color === 'string' && { accent_color: color.toLowerCase() }),
    ...(typeof logo === 'string' && { logo: strippedLogo(logo) }),
  };
}

const ofText = (value: unknown, problem: (value: string) => string | null) =>
  typeof value === 'string' ? problem(value) : null;

function logoProblem(base64: string): string | null {
  const checked = checkLogo(base64);
  return 'reason' in checked ? checked.reason : null;
}

function strippedLogo(base64: string): string {
  const checked = checkLogo(base64);
  if ('reason' in checked) throw new Error(`the logo ${checked.reason}`);
  return checked.png.toString('base64');
}

const colorProblem = (color: string) =>
  /^#[0-9a-f]{6}$/i.test(color) ? null : 'must be # and six hex digits, such as #2446cf';

/** As browsers check addresses (https://html.spec.whatwg.org/#valid-e-mail-address), with a name of two parts behind the @. */
const email =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const EMAIL_MAX = 254;

const emailProblem = (address: string) =>
  address.length <= EMAIL_MAX && email.test(address) ? null : 'must be one e-mail address, without a name';

/** Only characters that mean nothing else in a Content-Security-Policy. */
const origin = /^https?:\/\/[a-z0-9.-]+(?::\d{1,5})?$/;

function originsProblem(origins: readonly unknown[], isLocalAllowed: boolean): string | null {
  if (origins.length > EMBED_ORIGINS_MAX) return `must have at most ${EMBED_ORIGINS_MAX} origins`;
  const isExact = (text: unknown) =>
    typeof text === 'string' &&
    origin.test(text) &&
    URL.parse(text)?.origin === text &&
    returnUrlProblem(text, isLocalAllowed) === null;
  if (!origins.every(isExact)) return 'must be origins as browsers send them, such as https://shop.example';
  return new Set(origins).size === origins.length ? null : 'must not have an origin twice';
}
