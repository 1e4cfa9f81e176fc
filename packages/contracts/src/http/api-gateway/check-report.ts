import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages/fields.ts';

/** What one run of `ops check` came to. */
export type CheckOutcome = {
  began_at: string;
  ended_at: string;
  /** Whether it looked at everything. A run that did not counts as none. */
  whole: boolean;
  /** How often each rule is broken; a rule that holds is not in the list. */
  violations: BrokenRuleCount[];
};

export type BrokenRuleCount = { rule: string; count: number };

/** There are some twenty rules. */
const RULES_MAX = 100;

/**
 * Keeps the outcome, for metrics and alerts; the newest one only. Says false where one that began later is kept already. It names no author:
 * it changes nothing but what is shown about the system itself, and a schedule sends it.
 */
export const ReportCheck = defineCall('api-gateway', 'POST /check/report', json<{ kept: boolean }>(), {
  access: 'support',
  idempotent: true,
  body: object<CheckOutcome>({
    began_at: fields.timestamp,
    ended_at: fields.timestamp,
    whole: { type: 'boolean' },
    violations: {
      type: 'array',
      maxItems: RULES_MAX,
      items: {
        type: 'object',
        required: ['rule', 'count'],
        properties: {
          rule: { type: 'string', minLength: 1, maxLength: 200 },
          count: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        },
      },
    },
  }),
});
