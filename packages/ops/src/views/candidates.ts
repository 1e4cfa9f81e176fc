/** So many ids fit beside other columns; the JSON has them all. */
const NAMED_MAX = 3;

/** The payments that an unmatched transfer may be for: one alone is named as it is, several are counted. */
export function candidatesText(candidates: readonly string[]): string | null {
  const [only, ...others] = candidates;
  if (only === undefined || others.length === 0) return only ?? null;
  const more = candidates.length - NAMED_MAX;
  const named = candidates.slice(0, NAMED_MAX).join(', ');
  return `may be for ${candidates.length} payments: ${named}${more > 0 ? ` and ${more} more` : ''}`;
}
