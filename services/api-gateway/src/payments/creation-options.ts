import {
  type CreationRequest,
  type OptionName,
  optionEntries,
  type OptionRules,
} from '@quittance/contracts/api/creation.ts';
import type { JsonObject } from '../request-body.ts';

/** JSON Schema of each option; what a value means is checked below. */
export const optionShapes = Object.fromEntries(optionEntries.map(([name, { wire }]) => [name, { type: wire.type }]));

/**
 * @param value has passed the check of its shape, or a problem is reported for each field that has not.
 * @param report takes a field and what is wrong with it, or null.
 * @returns the options that say something else than their absence.
 */
export function readOptions(
  value: JsonObject,
  rules: OptionRules,
  report: (field: string, reason: string | null) => void,
): Pick<CreationRequest, OptionName> {
  const given = optionEntries.filter(([name, { wire }]) => hasType(value[name], wire.type));
  for (const [name, { problem }] of given) report(name, problem(value[name] as never, rules, value));
  const said = given.filter(([name, { isDefault }]) => isDefault?.(value[name] as never) !== true);
  return Object.fromEntries(said.map(([name]) => [name, value[name]]));
}

/** As JSON Schema has it. */
function hasType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}
