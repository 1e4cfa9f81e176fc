import {
  type CreationRequest,
  type OptionName,
  optionEntries,
  type OptionRules,
} from '@quittance/contracts/api/creation.ts';
import type { JsonObject } from '../request-body.ts';

/** JSON Schema of each option; the code below checks what a value means. */
export const optionShapes = Object.fromEntries(optionEntries.map(([name, { wire }]) => [name, { type: wire.type }]));

/**
 * @param value may have fields of a wrong type, whose problems are already reported.
 * @param report gets a field and its problem, or null.
 * @returns the options, without those that mean the same as their absence.
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

/** A type of JSON Schema. */
function hasType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}
