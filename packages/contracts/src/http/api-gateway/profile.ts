import { defineCall, json, object } from '../../call.ts';

/** In code points, after Unicode NFC. */
export const DISPLAY_NAME_MAX = 60;

/** What customers see of a merchant: the checkout page shows the name as the payee. Null shows no name. */
export type Profile = { display_name: string | null };

/** For operators. A merchant sets its own name through the public API. 404 for an unknown merchant; 422 as there. */
export const SetProfile = defineCall('api-gateway', 'POST /merchants/:merchant_id/profile', json<Profile>(), {
  authored: true,
  access: 'support',
  body: object<Profile>({ display_name: { type: ['string', 'null'] } }),
});
