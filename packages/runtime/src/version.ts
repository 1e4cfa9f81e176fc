import { readFileSync } from 'node:fs';

/** All packages have the version of the release. */
export const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
