import { test } from '@jest/globals';
import type { RuleId } from '../rules.ts';

/**
 * A test of rules of the contract. Its name begins with their ids, by which the report finds the tests of a rule.
 * @param ids one or more rules, for example 'errors.429' or ['limits.app.create', 'limits.app.rule5'].
 * @param guarantee what holds, as a sentence without the word "should".
 */
export function rule(ids: RuleId | RuleId[], guarantee: string, run: () => Promise<void>, timeoutMs = 240_000): void {
  const list = Array.isArray(ids) ? ids : [ids];
  test(`[${list.join(' ')}] ${guarantee}`, run, timeoutMs);
}
