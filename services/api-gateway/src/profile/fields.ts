import { DISPLAY_NAME_MAX, EMBED_ORIGINS_MAX, type Profile } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { emailProblem } from '@quittance/contracts/email.ts';
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
  let profile: ProfileChange = {};
  await readValidJson(request, (value) => {
    const read = readFields(value, rules);
    profile = read.profile;
    return [...shape(value), ...read.problems];
  });
  return profile;
}

/**
 * @param change may have values of a wrong type, which the schema reports.
 * @returns every problem, and the fields as they are stored: the name in NFC, the color in lower case, and the logo without what is not
 *   needed to show it.
 */
export function readFields(
  change: JsonObject,
  { localUrls }: FieldRules,
): { problems: ValidationItem[]; profile: ProfileChange } {
  // Before there were other fields, the name was required.
  if (Object.keys(change).length === 0)
    return { problems: [{ field: 'display_name', reason: 'or another field is required' }], profile: {} };
  const [name, logo] = [
    ofText(change['display_name'], (text) => text.normalize('NFC')),
    ofText(change['logo'], checkLogo),
  ];
  const problems: [field: keyof Profile, reason: string | null][] = [
    ['display_name', name === null ? null : textProblem(name, DISPLAY_NAME_MAX)],
    ['logo', logo !== null && 'reason' in logo ? logo.reason : null],
    ['accent_color', ofText(change['accent_color'], colorProblem)],
    ['support_url', ofText(change['support_url'], (url) => returnUrlProblem(url, localUrls))],
    ['support_email', ofText(change['support_email'], emailProblem)],
    [
      'embed_origins',
      Array.isArray(change['embed_origins']) ? originsProblem(change['embed_origins'], localUrls) : null,
    ],
  ];
  const color = ofText(change['accent_color'], (text) => text.toLowerCase());
  return {
    problems: problems.flatMap(([field, reason]) => (reason === null ? [] : [{ field, reason }])),
    profile: {
      ...change,
      ...(name !== null && { display_name: name }),
      ...(color !== null && { accent_color: color }),
      ...(logo !== null && 'png' in logo && { logo: logo.png.toString('base64') }),
    },
  };
}

/** @returns null for a value that is not text. */
const ofText = <T>(value: unknown, read: (text: string) => T): T | null =>
  typeof value === 'string' ? read(value) : null;

const colorProblem = (color: string) =>
  /^#[0-9a-f]{6}$/i.test(color) ? null : 'must be # and six hex digits, such as #2446cf';

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
