/** JSON text in the three parts between which the values of `created_at` and `expires_at` belong. */
export type OpenMoments = [beforeCreatedAt: string, between: string, afterExpiresAt: string];

/**
 * Takes the two moments out of a JSON text: when a payment is created only the database knows, once it holds the merchant's gate.
 * @param json an object whose `created_at` comes before its `expires_at`.
 */
export function openMoments(json: string): OpenMoments {
  const [beforeCreatedAt, rest] = cutOut(json, 'created_at');
  return [beforeCreatedAt, ...cutOut(rest, 'expires_at')];
}

/** Quotes inside a value are escaped, so the name in quotes of its own can only be the field. */
function cutOut(json: string, field: string): [before: string, after: string] {
  const name = `"${field}":"`;
  const at = json.indexOf(name);
  if (at === -1) throw new Error(`there is no ${field} in ${json}`);
  const from = at + name.length;
  return [json.slice(0, from), json.slice(json.indexOf('"', from))];
}
