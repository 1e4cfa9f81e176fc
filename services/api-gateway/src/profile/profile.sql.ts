import { createHash } from 'node:crypto';
import type { Profile } from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { Shop } from '@quittance/checkout-page/shop.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Change } from '../merchants/merchant.sql.ts';

const columns = `display_name, encode(logo, 'base64') as logo, accent_color, support_url, support_email, embed_origins`;

/** PostgreSQL breaks the lines of base64. */
const withOneLine = (row: Profile): Profile => ({ ...row, logo: row.logo?.replaceAll('\n', '') ?? null });

/** @returns null for an unknown merchant. */
export async function findProfile(db: Queryable, merchantId: string): Promise<Profile | null> {
  const { rows } = await db.query<Profile>(`select ${columns} from merchant where merchant_id = $1`, [merchantId]);
  return rows[0] === undefined ? null : withOneLine(rows[0]);
}

/**
 * Sets the given fields.
 * @returns the profile, and its change for the audit log, in which a logo is its hash; null if nothing changed. Null for an unknown merchant.
 */
export async function updateProfile(
  tx: Queryable,
  merchantId: string,
  given: Partial<Profile>,
): Promise<{ profile: Profile; change: Change | null } | null> {
  const { rows } = await tx.query<Profile>(`select ${columns} from merchant where merchant_id = $1 for no key update`, [
    merchantId,
  ]);
  if (rows[0] === undefined) return null;
  const before = withOneLine(rows[0]);
  const profile = { ...before, ...given };
  const changed = (Object.keys(given) as (keyof Profile)[]).filter(
    (field) => JSON.stringify(profile[field]) !== JSON.stringify(before[field]),
  );
  if (changed.length === 0) return { profile, change: null };
  const logo = profile.logo === null ? null : Buffer.from(profile.logo, 'base64');
  await tx.query(
    `update merchant set display_name = $2, logo = $3, logo_sha256 = sha256($3), accent_color = $4, support_url = $5,
       support_email = $6, embed_origins = $7
     where merchant_id = $1`,
    [
      merchantId,
      profile.display_name,
      logo,
      profile.accent_color,
      profile.support_url,
      profile.support_email,
      profile.embed_origins,
    ],
  );
  const audited = (from: Profile) => Object.fromEntries(changed.map((field) => [field, auditedValue(field, from)]));
  return { profile, change: { before: audited(before), after: audited(profile) } };
}

const auditedValue = (field: keyof Profile, profile: Profile) =>
  field === 'logo' && profile.logo !== null
    ? `sha256:${createHash('sha256').update(Buffer.from(profile.logo, 'base64')).digest('hex')}`
    : profile[field];

/** What the checkout page shows of each merchant, in the order of the ids; null for an unknown one. */
export async function readShops(db: Queryable, merchantIds: readonly string[]): Promise<(Shop | null)[]> {
  const { rows } = await db.query<Shop & { is_known: boolean }>({
    name: 'read-shops',
    text: `select m.merchant_id is not null as is_known, m.display_name as name, encode(m.logo_sha256, 'hex') as logo,
             m.accent_color as "accentColor", m.support_url as "supportUrl", m.support_email as "supportEmail",
             coalesce(m.embed_origins, '{}') as "embedOrigins"
           from unnest($1::text[]) with ordinality as a (merchant_id, position)
           left join merchant m using (merchant_id) order by position`,
    values: [merchantIds],
  });
  return rows.map(({ is_known: isKnown, ...shop }) => (isKnown ? shop : null));
}

/** @param sha256 in hex. @returns null if no merchant has this logo. */
export async function findLogo(db: Queryable, sha256: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ logo: Buffer }>(
    `select logo from merchant where logo_sha256 = decode($1, 'hex') limit 1`,
    [sha256],
  );
  return rows[0]?.logo ?? null;
}
