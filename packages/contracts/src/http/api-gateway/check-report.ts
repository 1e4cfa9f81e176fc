import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages/fields.ts';

/** The result of one run of `ops check`. */
export type CheckOutcome = {
  began_at: string;
  ended_at: string;
  /** Whether it checked everything. An incomplete run doesn't count. */
  whole: boolean;
  /** How often each rule is broken. Rules that hold are not listed. */
  violations: BrokenRuleCount[];
};

export type BrokenRuleCount = { rule: string; count: number };

/** There are about twenty rules. */
const RULES_MAX = 100;

/**
 * Stores the newest outcome for metrics and alerts. `kept` is false if one that began later is already stored. It has
 * no author, because it changes only what is shown about the system, and a schedule sends it.
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
