import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));

/** Files that name the release, with the text before the version. The API's own version in openapi.yaml is independent of it. */
const places: readonly (readonly [files: string, before: RegExp])[] = [
  ['{,packages/*/,packages/integrations/*/,services/*/,infra/*/,infra/*/*/,tests/}package.json', /^ {2}"version": "/],
  ['docker-compose*.yml', /\{QUITTANCE_VERSION:-/],
  ['.env.example', /^QUITTANCE_VERSION=/],
  ['infra/docker/Dockerfile', /^ARG VERSION=|quittance\/payments:/],
  ['k8s/overlays/*/release/kustomization.yaml', /newTag: &version /],
  ['k8s/charts/quittance/Chart.yaml', /^(?:version|appVersion): /],
  ['docs/docker.md', /quittance\/payments:/],
  ['docs/compare.md', /This is version /],
  ['docs/guide/quick-start.md', /quittance-sdk-/],
];

/** A file with all places in it that name the release. */
export type VersionedFile = {
  path: string;
  text: string;
  versions: string[];
  withVersion: (version: string) => string;
};

/** @throws when a file named here no longer has such a place. */
export function versionedFiles(): VersionedFile[] {
  return places.flatMap(([files, before]) => {
    const paths = globSync(files, { cwd: repositoryRoot, exclude: (name) => name === 'node_modules' });
    const found = paths.map((path) => {
      const text = readFileSync(join(repositoryRoot, path), 'utf8');
      const place = new RegExp(`(${before.source})(\\d+\\.\\d+\\.\\d+)`, 'gm');
      const versions = [...text.matchAll(place)].map((match) => match.at(-1) ?? '');
      const withVersion = (version: string) => text.replace(place, (_, head: string) => head + version);
      return { path, text, versions, withVersion };
    });
    const named = found.filter(({ path, versions }) => versions.length > 0 || !/compose|package/.test(path));
    for (const { path, versions } of named) if (versions.length === 0) throw new Error(`${path} names no version`);
    if (named.length === 0) throw new Error(`${files} names no version`);
    return named;
  });
}

/** The repository's current release. */
export const currentVersion = (): string =>
  (JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as { version: string }).version;

/** Whether one `major.minor.patch` is later than another. */
export function isLater(version: string, other: string): boolean {
  const [a, b] = [version, other].map((text) => text.split('.').map(Number));
  const at = [0, 1, 2].find((part) => a?.[part] !== b?.[part]);
  return at !== undefined && (a?.[at] ?? 0) > (b?.[at] ?? 0);
}
