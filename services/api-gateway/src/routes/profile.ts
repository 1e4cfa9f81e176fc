import type { Author } from '@quittance/contracts/author.ts';
import { SetProfile, type Profile } from '@quittance/contracts/http/api-gateway/profile.ts';
import { invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { inTime, type Admission } from '../admission/admission.ts';
import { merchantRoute } from '../admission/merchant-route.ts';
import { rateLimits } from '../admission/rate-limits.ts';
import { merchantNotFound } from '../responses/errors.ts';
import { insertAudit } from '../store/audit.ts';
import { findDisplayName, setDisplayName } from '../store/profile.ts';
import { refuseLargeBody } from '../validation/body-limit.ts';
import { displayNameProblems, readProfile } from '../validation/profile.ts';
import { existingMerchant, merchantIdOf } from './existing-merchant.ts';

type Dependencies = {
  db: Queryable;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  admission: Admission;
};

const byMerchant: Author = { actor: 'merchant', reason: 'asked for with an API key' };

/** What customers see of a merchant, set by itself or by an operator. */
export const profileRoutes = ({ db, inTransaction, admission }: Dependencies): Route[] => {
  const save = async (merchantId: string, displayName: string | null, author: Author): Promise<Profile> => {
    await inTransaction(async (tx) => {
      const change = await setDisplayName(tx, merchantId, displayName);
      if (change !== null) await insertAudit(tx, { merchantId, action: 'set_profile', author, change });
    });
    return { display_name: displayName };
  };
  return [
    merchantRoute(admission, 'GET /api/v1/merchant/profile', {
      limit: rateLimits.sharedReads,
      read: refuseLargeBody,
      handle: async ({ merchant: { merchant_id: merchantId } }) => {
        const profile = await inTime(findDisplayName(db, merchantId));
        if (profile === null) throw merchantNotFound();
        return { status: 200, body: profile };
      },
    }),

    merchantRoute(admission, 'PUT /api/v1/merchant/profile', {
      limit: rateLimits.webhookSettings,
      read: readProfile,
      handle: async ({ merchant: { merchant_id: merchantId }, input: { displayName } }) => ({
        status: 200,
        body: await inTime(save(merchantId, displayName, byMerchant)),
      }),
    }),

    callRoute(SetProfile, async (request) => {
      const { merchant_id: merchantId } = await existingMerchant(db, merchantIdOf(request));
      const { display_name: name } = request.body;
      const problems = displayNameProblems(name);
      if (problems.length > 0) throw invalid(...problems);
      return save(merchantId, name?.normalize('NFC') ?? null, request.author);
    }),
  ];
};
