import { delimiter, join } from 'node:path';

/** Where programs with these names would be on this machine, in the order in which a shell searches for each. */
export function placesOnPath(...names: string[]): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name)));
}
