import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentVersion, isLater, repositoryRoot, versionedFiles } from './places.ts';
import { dated } from './notes.ts';

// `npm run release -- 0.3.0` writes the version everywhere it is named and dates the changelog. The releasing person commits and tags; the
// tag starts .github/workflows/release.yml.
const [version = ''] = process.argv.slice(2);
const refuse = (why: string): never => {
  process.stderr.write(`${why}\n`);
  process.exit(2);
};
if (!/^\d+\.\d+\.\d+$/.test(version)) refuse('Name the version: npm run release -- 0.3.0');
if (!isLater(version, currentVersion())) refuse(`${version} does not come after ${currentVersion()}.`);

const changelog = join(repositoryRoot, 'CHANGELOG.md');
const notes = dated(readFileSync(changelog, 'utf8'), version, new Date());
if (notes === null) refuse('CHANGELOG.md has nothing unreleased.');
for (const { path, withVersion } of versionedFiles()) writeFileSync(join(repositoryRoot, path), withVersion(version));
writeFileSync(changelog, notes ?? '');
process.stdout.write(`This is ${version}. Commit it, and push the tag v${version}.\n`);
