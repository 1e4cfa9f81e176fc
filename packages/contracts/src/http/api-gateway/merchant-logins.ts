import { defineCall, json, object } from '../../call.ts';
import { OPERATOR_NAME } from '../../operator.ts';
import type { MerchantPerson } from '../../principal.ts';
import type { SignInLink } from './sign-in-links.ts';

/** How many people of one merchant may sign in at the same time. */
export const LOGINS_MAX = 20;

/** A person of a merchant who may look at its data in the console. Of the credential only its hash exists. */
export type MerchantLogin = {
  name: string;
  created_at: string;
  /** When the person last signed in with the credential; null before the first time. */
  last_used_at: string | null;
  /** Null while the credential works. */
  disabled_at: string | null;
};

/** The only time the credential is seen. */
export type NewMerchantLogin = MerchantPerson & { credential: string };

/**
 * A disabled person comes back with a new credential; 409 for one who is not disabled, and when the merchant has as many as it may. 404 for
 * an unknown merchant.
 */
export const AddMerchantLogin = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/logins',
  json<NewMerchantLogin>(),
  {
    authored: true,
    access: 'support',
    body: object<{ name: string }>({ name: { type: 'string', pattern: OPERATOR_NAME } }),
    status: 201,
  },
);

/** The working ones first, each by name; five hundred at most. 404 for an unknown merchant. */
export const ListMerchantLogins = defineCall(
  'api-gateway',
  'GET /merchants/:merchant_id/logins',
  json<{ merchant_id: string; logins: MerchantLogin[] }>(),
  { access: 'support' },
);

/** Signs the person in to the console once. 404 when nobody who may sign in has the name. */
export const LinkMerchantLogin = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/logins/:name/sign-in-link',
  json<MerchantPerson & SignInLink>(),
  { authored: true, access: 'support', status: 201 },
);

/** Ends sessions and links at once, and refuses the credential from now on. 404 when nobody who works has the name. */
export const DisableMerchantLogin = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/logins/:name/disable',
  json<MerchantLogin>(),
  { authored: true, access: 'support' },
);
