import { textSchema } from '../../author.ts';
import { defineCall, json, object } from '../../call.ts';
import {
  merchantRoles,
  OPERATOR_NAME,
  operatorRoles,
  type MerchantPerson,
  type MerchantRole,
  type Operator,
  type Principal,
} from '../../principal.ts';
import { query } from '../../query.ts';
import type { AuditEntry } from '../audit.ts';

/** A person's account. Only the credential's hash is stored. */
export type OperatorAccount = Operator & {
  created_at: string;
  /** When a token was last issued for the credential; null before the first time. */
  last_used_at: string | null;
  /** Null while the credential works. */
  disabled_at: string | null;
};

/** The only answer that contains the credential. */
export type NewOperator = Operator & { credential: string };

/**
 * Adds an operator, or enables a disabled one with the new role and a new credential. 409 for one who is not disabled.
 */
export const AddOperator = defineCall('api-gateway', 'POST /operators', json<NewOperator>(), {
  authored: true,
  access: 'admin',
  confirmed: true,
  body: object<Pick<Operator, 'name' | 'role'>>({
    name: { type: 'string', pattern: OPERATOR_NAME },
    role: { enum: operatorRoles },
  }),
  status: 201,
});

/** The working operators first, each sorted by name; at most five hundred. */
export const ListOperators = defineCall('api-gateway', 'GET /operators', json<{ operators: OperatorAccount[] }>(), {
  access: 'admin',
});

/**
 * The credential is refused from now on. The last token issued for it expires within minutes. 404 when no working
 * operator has the name.
 */
export const DisableOperator = defineCall('api-gateway', 'POST /operators/:name/disable', json<OperatorAccount>(), {
  authored: true,
  access: 'admin',
  confirmed: true,
});

/**
 * A change of an operator's account, a sign-in, or an attempt. `operator` is null for an unknown credential or link.
 */
export type OperatorChange = AuditEntry & { operator: string | null };

/** The newest hundred, before a time if one is given. `only=changes` leaves out sign-ins and attempts. */
export const ReadOperatorAudit = defineCall(
  'api-gateway',
  'GET /operators/audit',
  json<{ entries: OperatorChange[] }>(),
  { access: 'admin', query: { before: query.timestamp, only: query.oneOf('changes') } },
);

/** Sent with a person's requests until it expires. */
export type Token = { token: string; expires_in: number };

export type OperatorToken = Operator & Token;

/** A credential is all that is needed. 401 unless a working operator has it. */
export const IssueOperatorToken = defineCall('api-gateway', 'POST /operator-tokens', json<OperatorToken>(), {
  access: 'anyone',
  body: object<{ credential: string }>({ credential: { type: 'string', minLength: 1, maxLength: 255 } }),
  // Repeating it issues another token, which does no harm.
  idempotent: true,
});

/** A session ends after the first time without activity, and in any case after the second. */
export const SESSION_IDLE_SECONDS = 30 * 60;
export const SESSION_SECONDS = 12 * 60 * 60;

export const secretSchema = { type: 'string', minLength: 1, maxLength: 255 } as const;

/** Who may sign in at a console. A console for merchants need not admit operators. */
export const consoleAudiences = ['everyone', 'merchants'] as const;

export type ConsoleAudience = (typeof consoleAudiences)[number];

/**
 * From which address, and at which console, a person signs in. All attempts are counted, successful or not, for each
 * address and separately for each audience. An older console sends no audience, which means everyone.
 */
export type SignInPlace = { client: string; audience?: ConsoleAudience; user_agent?: string };

export const signInPlace = {
  client: { type: 'string', minLength: 1, maxLength: 100 },
  audience: { enum: consoleAudiences },
  user_agent: textSchema(200),
} as const;

/** The only answer that contains the session's secret, which goes into a cookie. */
export type OpenedSession = Principal & { session: string };

/**
 * Signs in an operator or a merchant's person. 401 unless the credential belongs to someone who may sign in at this
 * console; 429 with Retry-After after too many attempts.
 */
export const OpenOperatorSession = defineCall('api-gateway', 'POST /operator-sessions', json<OpenedSession>(), {
  access: 'anyone',
  body: object<{ credential: string } & SignInPlace>(
    { credential: secretSchema, ...signInPlace },
    { optional: ['audience', 'user_agent'] },
  ),
  status: 201,
});

/**
 * What is known of a session besides its person. The person's role is `viewer` in a session without a passkey, while
 * passkeys are on and for a merchant's person always.
 */
export type SessionState = {
  /** The role of the account; the person has it in this session unless a passkey is missing. */
  account_role: string;
  /** How many passkeys the account has; null while CONSOLE_RP_ID is not set. Absent in answers of older releases. */
  passkeys?: number | null;
};

/**
 * Who is signed in, with a token to act as that person. 401 when the session has ended or the person may no longer sign
 * in: a disabled person, or one of a blocked merchant. 429 with Retry-After for too many requests by a merchant's
 * people.
 */
export const ResumeOperatorSession = defineCall(
  'api-gateway',
  'POST /operator-sessions/resume',
  json<Principal & Token & SessionState>(),
  {
    access: 'anyone',
    body: object<{ session: string }>({ session: secretSchema }),
    idempotent: true,
  },
);

/** Ends this session, or all sessions of its person. Returns how many ended. */
export const CloseOperatorSession = defineCall(
  'api-gateway',
  'POST /operator-sessions/close',
  json<{ closed: number }>(),
  {
    access: 'anyone',
    body: object<{ session: string; everywhere: boolean }>({ session: secretSchema, everywhere: { type: 'boolean' } }),
    idempotent: true,
  },
);

/** Ends every session of an operator, and the unused links. The account stays. 404 when no operator has the name. */
export const SignOutOperator = defineCall('api-gateway', 'POST /operators/:name/sign-out', json<{ closed: number }>(), {
  authored: true,
  access: 'admin',
});

/** The most people of one merchant who can sign in. */
export const LOGINS_MAX = 20;

/** A person of a merchant who may use the console. Only the credential's hash is stored. */
export type MerchantLogin = {
  name: string;
  role: MerchantRole;
  created_at: string;
  /** When the person last signed in with the credential; null before the first time. */
  last_used_at: string | null;
  /** Null while the credential works. */
  disabled_at: string | null;
};

/** The only answer that contains the credential, and a link for those who need none: it ends with a passkey. */
export type NewMerchantLogin = MerchantPerson & { credential: string } & Partial<SignInLink>;

/** An invitation is read later than a link that support sends while it talks to the person. */
export const INVITATION_SECONDS = 3 * 24 * 60 * 60;

/**
 * Adds a person, as a viewer without `role`, or enables a disabled one with a new credential. 409 for a person who is not disabled, and when the
 * merchant has the most people allowed. 404 for an unknown merchant.
 */
export const AddMerchantLogin = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/logins',
  json<NewMerchantLogin>(),
  {
    authored: true,
    access: 'support',
    forMerchants: 'owner',
    confirmed: true,
    body: object<{ name: string; role?: MerchantRole }>(
      { name: { type: 'string', pattern: OPERATOR_NAME }, role: { enum: merchantRoles } },
      { optional: ['role'] },
    ),
    status: 201,
  },
);

/** The working logins first, each sorted by name; at most five hundred. 404 for an unknown merchant. */
export const ListMerchantLogins = defineCall(
  'api-gateway',
  'GET /merchants/:merchant_id/logins',
  json<{ merchant_id: string; logins: MerchantLogin[] }>(),
  { access: 'support', forMerchants: 'owner' },
);

/** Takes effect at once, in open sessions too. 404 when no working login has the name; 409 for the own role. */
export const SetMerchantLoginRole = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/logins/:name/role',
  json<MerchantLogin>(),
  {
    authored: true,
    access: 'support',
    forMerchants: 'owner',
    confirmed: true,
    body: object<{ role: MerchantRole }>({ role: { enum: merchantRoles } }),
  },
);

/**
 * For a person who has lost the device: removes all passkeys and ends all sessions. The person then signs in with the
 * credential or a link and adds a new passkey. 404 when no working login has the name.
 */
export const ResetMerchantPasskeys = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/logins/:name/reset-passkeys',
  json<{ removed: number }>(),
  { authored: true, access: 'support', confirmed: true },
);

/** Creates a link that signs the person in to the console once. 404 when no person with the name can sign in. */
export const LinkMerchantLogin = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/logins/:name/sign-in-link',
  json<MerchantPerson & SignInLink>(),
  { authored: true, access: 'support', forMerchants: 'owner', confirmed: true, status: 201 },
);

/**
 * Ends sessions and links immediately, and refuses the credential from now on. 404 when no working login has the name.
 */
export const DisableMerchantLogin = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/logins/:name/disable',
  json<MerchantLogin>(),
  { authored: true, access: 'support', forMerchants: 'owner', confirmed: true },
);

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
    confirmed: true,
    status: 201,
  },
);

/** As ResetMerchantPasskeys, for an operator. With `ops` on the machine, also for the last administrator. */
export const ResetOperatorPasskeys = defineCall(
  'api-gateway',
  'POST /operators/:name/reset-passkeys',
  json<{ removed: number }>(),
  { authored: true, access: 'admin', confirmed: true },
);

/**
 * Signs in the person that the link is for, and uses it up. 401 for a used or expired link; 429 as with a credential.
 */
export const OpenSessionByLink = defineCall('api-gateway', 'POST /operator-sessions/by-link', json<OpenedSession>(), {
  access: 'anyone',
  body: object<{ link: string } & SignInPlace>(
    { link: secretSchema, ...signInPlace },
    { optional: ['audience', 'user_agent'] },
  ),
  status: 201,
});
