import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parse } from 'yaml';
import { parseImages } from '../../infra/release/image-files.ts';
import { dated, newestDated, notesOf } from '../../infra/release/notes.ts';
import { currentVersion, isLater, versionedFiles } from '../../infra/release/places.ts';

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
const imageNames = ['setup', ...serviceNames, 'single', 'console'];

describe('the version', () => {
  test.each(versionedFiles())('of $path is that of package.json', ({ versions }) => {
    expect(new Set(versions)).toEqual(new Set([currentVersion()]));
  });

  test('is the newest dated version of the changelog, with notes', () => {
    expect(newestDated(read('CHANGELOG.md'))).toBe(currentVersion());
    expect(notesOf(read('CHANGELOG.md'), currentVersion())).toMatch(/^### [\s\S]*\n- /);
  });

  test('is written by the release to every place that names it', () => {
    for (const { versions, withVersion } of versionedFiles()) {
      const text = withVersion('7.8.9');
      expect(text.split('7.8.9')).toHaveLength(versions.length + 1);
    }
  });

  test.each([
    ['0.2.0', '0.1.9', true],
    ['0.10.0', '0.9.9', true],
    ['1.0.0', '0.99.99', true],
    ['0.2.0', '0.2.0', false],
    ['0.1.9', '0.2.0', false],
  ])('%s after %s: %s', (version, other, later) => expect(isLater(version, other)).toBe(later));
});

test('the release dates the unreleased changes, and only these become its notes', () => {
  const changelog = '# Changelog\n\n## Unreleased\n\n### A\n\n- new\n\n## 0.1.0 (2026-11-22)\n\n### A\n\n- old\n';
  const released = dated(changelog, '0.2.0', new Date('2026-12-01T23:59:59Z'));
  expect(released).toBe(changelog.replace('## Unreleased', '## 0.2.0 (2026-12-01)'));
  expect(notesOf(released ?? '', '0.2.0')).toBe('### A\n\n- new\n');
  expect(dated(released ?? '', '0.3.0', new Date())).toBeNull();
});

describe('the files of a release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-release-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const digestOf = (name: string) => `sha256:${Buffer.from(name.padEnd(32)).toString('hex')}`;
  const pushed = imageNames.map((name) => `${name} registry.test/shop/${name}@${digestOf(name)}\n`).join('');
  writeFileSync(join(folder, 'images.txt'), pushed);
  execFileSync(process.execPath, ['infra/release/write-files.ts', join(folder, 'images.txt'), folder], {
    cwd: repositoryRoot,
  });
  const written = (name: string) => readFileSync(join(folder, name), 'utf8');

  test.each([
    ['docker-compose', imageNames.filter((name) => name !== 'single')],
    ['docker-compose.single', ['single']],
  ])('pin every container of ours in %s.yml, and build none', (file, images) => {
    const { services } = parse(read(`${file}.yml`), { merge: true, maxAliasCount: -1 }) as {
      services: Record<string, { image?: string }>;
    };
    const ours = Object.entries(services).flatMap(([container, { image = '' }]) => {
      const name = /^quittance\/([^:]+):/.exec(image)?.[1];
      return name === undefined ? [] : [[container, `registry.test/shop/${name}@${digestOf(name)}`] as const];
    });
    expect(new Set(ours.map(([, image]) => /shop\/([a-z-]+)@/.exec(image)![1]))).toEqual(new Set(images));
    // `!reset` is Compose's own tag, and removes the value.
    const override = parse(written(`${file}.images.yml`), { logLevel: 'silent' }) as { services: object };
    expect(override.services).toEqual(
      Object.fromEntries(ours.map(([name, image]) => [name, { image, build: 'null' }])),
    );
  });

  test('pin every image of Kubernetes, by the tag of the version', () => {
    const { images } = parse(written('kustomization.yaml')) as { images: Record<string, string>[] };
    expect(images).toEqual(
      [...serviceNames, 'console'].map((name) => ({
        ...{ name: `quittance/${name}`, newName: `registry.test/shop/${name}` },
        ...{ newTag: currentVersion(), digest: digestOf(name) },
      })),
    );
  });

  test('carry the notes of the version', () => {
    expect(written('notes.md')).toBe(notesOf(read('CHANGELOG.md'), currentVersion()));
  });

  test.each(['payments registry.test/payments:0.2.0', 'payments@sha256:12', 'x'])('refuse the line "%s"', (line) => {
    expect(() => parseImages(line)).toThrow('names no image');
  });
});

type Step = { uses?: string; with?: Record<string, unknown>; run?: string };
type Workflow = {
  permissions: object;
  jobs: Record<string, { permissions?: object; strategy?: { matrix: { service: string[] } }; steps: Step[] }>;
};

describe('the release workflow', () => {
  const workflow = parse(read('.github/workflows/release.yml')) as Workflow;
  const checks = parse(read('.github/workflows/check.yml')) as Workflow;
  const images = workflow.jobs['images'];
  const step = (action: string) => images?.steps.find(({ uses }) => uses?.startsWith(`${action}@`));

  test('builds each image that compose runs, with an SBOM and provenance, and signs it by its digest', () => {
    expect(images?.strategy?.matrix.service.toSorted()).toEqual(imageNames.toSorted());
    expect(step('docker/build-push-action')?.with).toMatchObject({ push: true, sbom: true, provenance: 'mode=max' });
    expect(step('actions/attest-build-provenance')).toBeDefined();
    expect(images?.steps.some(({ run }) => run === 'cosign sign --yes "$IMAGE"')).toBe(true);
  });

  test('first runs what CI runs, and has only the write permissions it needs', () => {
    const ci = checks.jobs['check']?.steps.at(-1);
    expect(workflow.jobs['check']?.steps).toContainEqual(ci);
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const rights = Object.entries(workflow.jobs).map(([name, { permissions }]) => [name, permissions]);
    expect(Object.fromEntries(rights)).toEqual({
      images: { contents: 'read', packages: 'write', 'id-token': 'write', attestations: 'write' },
      publish: { contents: 'write' },
    });
  });

  test('names the same versions of actions as the checks', () => {
    const versions = (of: Workflow) =>
      Object.fromEntries(
        Object.values(of.jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => (uses ? [uses.split('@')] : []))),
      ) as Record<string, string>;
    expect(versions(workflow)).toMatchObject(versions(checks));
  });
});

describe('every workflow', () => {
  const folder = '.github/workflows';
  const files = readdirSync(join(repositoryRoot, folder)).map((name) => `${folder}/${name}`);
  const stepsIn = (file: string) => Object.values((parse(read(file)) as Workflow).jobs).flatMap(({ steps }) => steps);

  test.each(files)('%s pins actions by commit, with the version in a comment', (file) => {
    const named = stepsIn(file).flatMap(({ uses }) => uses ?? []);
    expect(named.filter((uses) => !/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/.test(uses))).toEqual([]);
    const lines = read(file).match(/^.*\buses:.*$/gm) ?? [];
    expect(lines.filter((line) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
    expect(lines).toHaveLength(named.length);
    expect(named.length).toBeGreaterThan(0);
  });

  test('uses the same commit for the same version', () => {
    const named = files.flatMap((file) => [...read(file).matchAll(/uses: ([^@]+)@(\w+) # (\S+)/g)]);
    const commits = new Map(named.map(([, action, commit, version]) => [`${action} ${version}`, commit]));
    expect(named.filter(([, action, commit, version]) => commits.get(`${action} ${version}`) !== commit)).toEqual([]);
  });

  test.each(files)('%s installs Node without a cache, which would need pnpm before it is installed', (file) => {
    const installing = stepsIn(file).filter(({ uses }) => uses?.startsWith('actions/setup-node@'));
    expect(installing.map((step) => step.with?.['package-manager-cache'])).toEqual(installing.map(() => false));
  });
});

test('package.json pins pnpm by version and hash, and the start script uses that version', () => {
  const { packageManager } = JSON.parse(read('package.json')) as { packageManager: string };
  expect(packageManager).toMatch(/^pnpm@\d+\.\d+\.\d+\+sha512\.[0-9a-f]{128}$/);
  for (const file of ['infra/local/bootstrap.mjs', 'infra/docker/layout.sh'])
    expect(read(file)).toMatch(/packageManager\.split\(['"]\+['"]\)\[0\]/);
});
