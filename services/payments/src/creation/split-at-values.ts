import type { SplitJson } from '../store/new-payment.ts';

/**
 * Cuts the values of text fields out of a JSON text: only the database knows them, once it holds the merchant's gate.
 * @param json an object that has these fields in this order, and before the last of them no object in which somebody else names fields.
 */
export function splitAtValues(json: string, fields: readonly string[]): SplitJson {
  const [field, ...others] = fields;
  if (field === undefined) return [json];
  // Quotes inside a value are escaped, so the quoted name can only be the field.
  const name = `"${field}":"`;
  const position = json.indexOf(name);
  if (position === -1) throw new Error(`${field} is missing in ${json}`);
  const start = position + name.length;
  return [json.slice(0, start), ...splitAtValues(json.slice(json.indexOf('"', start)), others)];
}
