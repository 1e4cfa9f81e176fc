const heading = (version: string): RegExp =>
  new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm');

/** @returns the changelog with the unreleased changes under this version and date (UTC), or null without such changes. */
export function dated(changelog: string, version: string, day: Date): string | null {
  const unreleased = /^## Unreleased\n+(?=### )/m;
  if (!unreleased.test(changelog)) return null;
  return changelog.replace(unreleased, `## ${version} (${day.toISOString().slice(0, 10)})\n\n`);
}

/** The newest version that has a date in the changelog. */
export const newestDated = (changelog: string): string | null =>
  /^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$/m.exec(changelog)?.[1] ?? null;

/** @returns the changelog's text for a version, or null if it has no date there. */
export function notesOf(changelog: string, version: string): string | null {
  const found = heading(version).exec(changelog);
  if (found === null) return null;
  const rest = changelog.slice(found.index + found[0].length);
  const next = rest.search(/^## /m);
  return `${(next < 0 ? rest : rest.slice(0, next)).trim()}\n`;
}
