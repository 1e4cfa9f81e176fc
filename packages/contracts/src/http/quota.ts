import { type AccessPolicy, LIMIT_MAX, MAX_BETA_DAYS, type BetaConditions, type Limits } from '../access.ts';
import { defineCall, json, object, type Json } from '../call.ts';
import { AccessChanged, fields } from '../messages.ts';
import type { OperatorRole } from '../principal.ts';
import { query } from '../query.ts';
import { auditCall, type AuditEntry } from './audit.ts';
import { checkedList, type Violation, type CreatedPayments } from './check.ts';

/**
 * Read by payments before it refuses a creation because of its own copy. 404 for a merchant that quota doesn't know
 * yet. The message also has the time of the change; this has only the policy.
 */
export const ReadPolicy = defineCall(
  'quota',
  'GET /merchants/:merchant_id/policy',
  json<AccessPolicy>({
    ...AccessChanged.schema,
    required: AccessChanged.schema.required.filter((field) => field !== 'changed_at'),
  }),
  { callers: ['payments'], access: 'viewer' },
);

/** The newest account status that quota knows, and a policy version that includes it. */
export type AccountStatus = { status: string; status_version: number; policy_version: number };

/** Lets an operator's command find out that a block has arrived. 404 for a merchant that quota doesn't know yet. */
export const ReadAccountStatus = defineCall(
  'quota',
  'GET /merchants/:merchant_id/account-status',
  json<AccountStatus>(),
  { access: 'viewer' },
);

const days = { type: 'integer', minimum: 1, maximum: MAX_BETA_DAYS };
const limit = { type: 'integer', minimum: 0, maximum: LIMIT_MAX };
const limitSchemas = { total_limit: limit, daily_limit: { ...limit, type: ['integer', 'null'] } };
export const betaSchemas = { ...limitSchemas, beta_duration_days: days };

/**
 * An operator's change of the policy. Answers with the policy in force; 404 for an unknown merchant; 409 with the
 * reason when the policy doesn't allow it. A change to the current value makes no new version.
 */
const change = <const Action extends string, Body = undefined>(
  access: OperatorRole,
  action: Action,
  body: Json<Body> = { schema: null },
) =>
  defineCall('quota', `POST /merchants/:merchant_id/${action}`, json<AccessPolicy>(), { authored: true, access, body });

export const ActivateBeta = change('support', 'activate');
export const PauseCreation = change('support', 'pause');
export const ResumeCreation = change('support', 'resume');
export const ExtendBeta = change('support', 'extend', object<{ days: number }>({ days }));
/** At least one limit is required: an empty change is 422. */
export const SetLimits = change(
  'admin',
  'limits',
  object<Limits>(limitSchemas, { optional: ['total_limit', 'daily_limit'] }),
);
export const MoveToBeta = change(
  'admin',
  'move-to-beta',
  object<BetaConditions>(betaSchemas, { optional: ['total_limit', 'daily_limit', 'beta_duration_days'] }),
);

export type PolicyChange = Omit<AuditEntry, 'at'> & { policy_version: number; changed_at: string };

/** Changes of the policy. `before` is null for the registration. 404 for an unknown merchant. */
export const ReadPolicyAudit = auditCall('quota', json<{ changes: PolicyChange[] }>());

/** Payments created on a UTC day, `2026-01-31`. */
export type UsageDay = { day: string; payments_created: number };

/** The newest hundred days with a created payment, before a day if one is given. 404 for an unknown merchant. */
export const ReadUsage = defineCall('quota', 'GET /merchants/:merchant_id/usage', json<{ days: UsageDay[] }>(), {
  access: 'viewer',
  forMerchants: 'viewer',
  query: { before: query.day },
});

/** Whether the usage history has as many payments of these merchants, created before `until`, as payments has. */
export const CheckUsage = defineCall('quota', 'POST /check/usage', json<{ violations: Violation[] }>(), {
  access: 'support',
  idempotent: true,
  query: { until: query.timestamp },
  body: object<{ merchants: CreatedPayments[] }>({
    merchants: checkedList({ merchant_id: fields.merchantId, created: fields.count }),
  }),
});
