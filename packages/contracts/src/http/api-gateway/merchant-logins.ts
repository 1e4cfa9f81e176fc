import { defineCall, json, object } from '../../call.ts';
import { OPERATOR_NAME } from '../../operator.ts';
import type { MerchantPerson } from '../../principal.ts';
import type { SignInLink } from './sign-in-links.ts';

/** The most people of one merchant who can sign in. */
export const LOGINS_MAX = 20;

/** A person of a merchant who may see its data in the console. Only the credential's hash is stored. */
export type MerchantLogin = {
  name: string;
  created_at: string;
  /** When the person last signed in with the credential; null before the first time. */
  last_used_at: string | null;
  /** Null while the credential works. */
  disabled_at: string | null;
};

/** The only answer that contains the credential. */
export type NewMerchantLogin = MerchantPerson & { credential: string };

/**
 * Adds a person, or enables a disabled one with a new credential. 409 for a person who is not disabled, and when the
 * merchant has the most people allowed. 404 for an unknown merchant.
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

/** The working logins first, each sorted by name; at most five hundred. 404 for an unknown merchant. */
export const ListMerchantLogins = defineCall(
  'api-gateway',
  'GET /merchants/:merchant_id/logins',
  json<{ merchant_id: string; logins: MerchantLogin[] }>(),
  { access: 'support' },
);

/** Creates a link that signs the person in to the console once. 404 when no person with the name can sign in. */
export const LinkMerchantLogin = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/logins/:name/sign-in-link',
  json<MerchantPerson & SignInLink>(),
  { authored: true, access: 'support', status: 201 },
);

/**
 * Ends sessions and links immediately, and refuses the credential from now on. 404 when no working login has the name.
 */
export const DisableMerchantLogin = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/logins/:name/disable',
  json<MerchantLogin>(),
  { authored: true, access: 'support' },
);
