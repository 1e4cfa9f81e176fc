import type { Author } from '@quittance/contracts/author.ts';
import { SetProfile, type Profile } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { CACHE_IMMUTABLE } from '@quittance/checkout-page/asset.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import { inTime, type Admission, rateLimits } from '../limits/admission.ts';
import { merchantChange, merchantRead } from '../limits/merchant-route.ts';
import { insertAudit } from '../merchants/audit.sql.ts';
import { existingMerchant, merchantIdOf, merchantNotFound } from '../merchants/existing-merchant.ts';
import { refuseLargeBody } from '../request-body.ts';
import { readFields, readProfile, type ProfileChange } from './fields.ts';
import { findLogo, findProfile, updateProfile } from './profile.sql.ts';

type Dependencies = {
  db: Queryable;
  transact: Transact;
  admission: Admission;
  optionRules: { localReturnUrls: boolean };
};

/** What customers see of a merchant. The merchant sets it with its API key, and operators can set the name. */
export const profileRoutes = ({ db, transact, admission, optionRules }: Dependencies): Route[] => {
  const rules = { localUrls: optionRules.localReturnUrls };
  const save = async (merchantId: string, given: ProfileChange, author: Author): Promise<Profile> =>
    transact(async (tx) => {
      const updated = await updateProfile(tx, merchantId, given);
      if (updated === null) throw merchantNotFound();
      const { profile, change } = updated;
      if (change !== null) await insertAudit(tx, { merchantId, action: 'set_profile', author, change });
      return profile;
    });
  return [
    merchantRead(admission, '/api/v1/merchant/profile', {
      limit: rateLimits.sharedReads,
      read: refuseLargeBody,
      handle: async ({ merchant: { merchant_id: merchantId } }) => {
        const profile = await inTime(findProfile(db, merchantId));
        if (profile === null) throw merchantNotFound();
        return { status: 200, body: profile };
      },
    }),

    merchantChange(admission, 'PUT /api/v1/merchant/profile', {
      right: 'profile',
      action: null,
      limit: rateLimits.webhookSettings,
      read: (request) => readProfile(request, rules),
      handle: async ({ merchant: { merchant_id: merchantId }, author, input }) => ({
        status: 200,
        body: await inTime(save(merchantId, input, author)),
      }),
    }),

    callRoute(SetProfile, async (request) => {
      const { merchant_id: merchantId } = await existingMerchant(db, merchantIdOf(request));
      const { problems, profile } = readFields({ display_name: request.body.display_name }, rules);
      if (problems.length > 0) throw invalid(...problems);
      return save(merchantId, profile, request.author);
    }),
  ];
};

/** A browser shows it as an image and as nothing else, even if its address is opened. */
const logoHeaders = {
  'content-type': 'image/png',
  'cache-control': CACHE_IMMUTABLE,
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** GET /assets/logos/{sha256}.png */
export const logoRoute = ({ db }: Pick<Dependencies, 'db'>): Route => ({
  method: 'GET',
  path: '/assets/logos/:name',
  handle: async ({ params }) => {
    const [, sha256] = /^([0-9a-f]{64})\.png$/.exec(pathParameter(params, 'name')) ?? [];
    const logo = sha256 === undefined ? null : await inTime(findLogo(db, sha256));
    if (logo === null) throw new HttpError(404, 'Not found');
    return { status: 200, body: logo, headers: logoHeaders };
  },
});
