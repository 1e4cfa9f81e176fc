import { defineCall, json, object } from '../../call.ts';
import type { Operator } from '../../operator.ts';
import { secretSchema, signInPlace, type OpenedSession, type SignInPlace } from './operator-sessions.ts';

/** A link works once, within this time. */
export const SIGN_IN_LINK_SECONDS = 30 * 60;

/** The only answer that contains the link's secret. */
export type SignInLink = { link: string; ends_at: string };

/** The path of a link, below the console's address. */
export const signInLinkPath = (link: string): string => `/sign-in/link/${link}`;

/** For an operator without a credential at hand. 404 when no working operator has the name. */
export const LinkOperator = defineCall(
  'api-gateway',
  'POST /operators/:name/sign-in-link',
  json<Operator & SignInLink>(),
  {
    authored: true,
    access: 'admin',
    status: 201,
  },
);

/**
 * Signs in the person that the link is for, and uses it up. 401 for a used or expired link; 429 as with a credential.
 */
export const OpenSessionByLink = defineCall('api-gateway', 'POST /operator-sessions/by-link', json<OpenedSession>(), {
  access: 'anyone',
  body: object<{ link: string } & SignInPlace>({ link: secretSchema, ...signInPlace }, { optional: ['audience'] }),
  status: 201,
});
