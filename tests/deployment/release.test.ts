import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parse } from 'yaml';
import { run as runPackaged } from '../../infra/kubernetes/packaged-tools.ts';
import { writeComposeArchive } from '../../infra/release/compose-archive.ts';
import { parseImages, pinnedCompose, pinnedRelease, pinnedValues } from '../../infra/release/image-files.ts';
import { imageNames } from '../../infra/release/image-names.ts';
import { dated, newestDated, notesOf } from '../../infra/release/notes.ts';
import { publishedFolders } from '../../infra/release/packages.ts';
import { currentVersion, isLater, versionedFiles } from '../../infra/release/places.ts';

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
const composeFiles = globSync('docker-compose*.yml', { cwd: repositoryRoot });

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
  const digestOf = (name: string) => `sha256:${Buffer.from(name.padEnd(32)).toString('hex')}`;
  const pushed = parseImages(
    imageNames()
      .map((name) => `${name} registry.test/shop/${name}@${digestOf(name)}\n`)
      .join(''),
  );
  const pinned = (name: string) => `registry.test/shop/${name}@${digestOf(name)}`;

  test('have an image of each service, of `setup`, `single`, the console and the notifier', () => {
    expect(imageNames().toSorted()).toEqual(['setup', ...serviceNames, 'single', 'console', 'notifier'].toSorted());
  });

  test.each(composeFiles)(
    'run every container of ours in %s by its digest, change nothing else, and build none',
    (file) => {
      type Services = Record<string, { image?: string; build?: object }>;
      const servicesOf = (text: string) =>
        (parse(text, { merge: true, maxAliasCount: -1 }) as { services: Services }).services;
      const expected = Object.entries(servicesOf(read(file))).map(([container, { build: _, ...rest }]) => {
        const name = /^quittance\/([^:]+):/.exec(rest.image ?? '')?.[1];
        return [container, name === undefined ? rest : { ...rest, image: pinned(name) }];
      });
      expect(servicesOf(pinnedCompose(read(file), pushed))).toEqual(Object.fromEntries(expected));
    },
  );

  test('pin every image of the kustomizations, by the tag of the version', () => {
    const text = pinnedRelease(read('k8s/overlays/production/release/kustomization.yaml'), pushed);
    const { images } = parse(text) as { images: Record<string, string>[] };
    expect(images).toEqual(
      [...serviceNames, 'console', 'notifier'].map((name) => ({
        ...{ name: `quittance/${name}`, newName: `registry.test/shop/${name}` },
        ...{ newTag: currentVersion(), digest: digestOf(name) },
      })),
    );
  });

  test('pin every image of the chart, and change no other value', () => {
    const before = read('k8s/charts/quittance/values.yaml');
    const services = [...serviceNames, 'console'];
    const { image, ...rest } = parse(pinnedValues(before, pushed, services)) as Record<string, object>;
    const { image: earlier, ...others } = parse(before) as Record<string, object>;
    const digests = Object.fromEntries(services.map((name) => [name, digestOf(name)]));
    expect(image).toEqual({ ...earlier, registry: 'registry.test/shop', digests });
    expect(rest).toEqual(others);
    const elsewhere = { ...pushed, quota: { name: 'other.test/quota', digest: digestOf('quota') } };
    expect(() => pinnedValues(before, elsewhere, services)).toThrow('different registries');
  });

  test('for Compose have everything that its files mount, and nothing that a person or `init` writes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quittance-release-'));
    try {
      await writeComposeArchive(pushed, join(folder, 'a.tar.gz'));
      execFileSync('tar', ['-xzf', 'a.tar.gz'], { cwd: folder });
      const has = (file: string) => existsSync(join(folder, 'quittance', file));
      const mounted = composeFiles.flatMap((file) => [...read(file).matchAll(/(?<=[\s'-])\.\/[\w./-]+\w/g)].flat());
      expect(mounted.length).toBeGreaterThan(5);
      const written = ['./chain-watcher.env', './alertmanager.yml'];
      expect(mounted.filter((file) => !has(file) && !written.includes(file))).toEqual([]);
      expect(['.env', 'networks.json', ...written].filter(has)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('include the packages that are not private', () => {
    expect(publishedFolders()).toEqual([
      'packages/sdk',
      'packages/mcp',
      'packages/integrations/medusa',
      'packages/integrations/vendure',
    ]);
  });

  test.each(['payments registry.test/payments:0.2.0', 'payments@sha256:12', 'x'])('refuse the line "%s"', (line) => {
    expect(() => parseImages(line)).toThrow('names no image');
  });
});

type Step = { uses?: string; with?: Record<string, unknown>; run?: string };
type Workflow = {
  permissions: object;
  jobs: Record<
    string,
    {
      permissions?: object;
      strategy?: { matrix: { service: string } };
      outputs?: object;
      environment?: string;
      steps: Step[];
    }
  >;
};

describe('the release workflow', () => {
  const workflow = parse(read('.github/workflows/release.yml')) as Workflow;
  const checks = parse(read('.github/workflows/check.yml')) as Workflow;
  const images = workflow.jobs['images'];
  const runs = (job: string) => workflow.jobs[job]!.steps.flatMap(({ run }) => run ?? []);
  const step = (action: string) => images?.steps.find(({ uses }) => uses?.startsWith(`${action}@`));

  test('builds each image that compose runs, with an SBOM and provenance', () => {
    expect(workflow.jobs['check']?.outputs).toEqual({ images: '${{ steps.names.outputs.images }}' });
    expect(runs('check')).toContain('echo "images=$(node infra/release/image-names.ts)" >> "$GITHUB_OUTPUT"');
    expect(images?.strategy?.matrix.service).toBe('${{ fromJSON(needs.check.outputs.images) }}');
    expect(step('docker/build-push-action')?.with).toMatchObject({ push: true, sbom: true, provenance: 'mode=max' });
    expect(step('actions/attest-build-provenance')).toBeDefined();
  });

  test('writes the files, and publishes them in a job that installs nothing', () => {
    expect(runs('files')).toContain('node infra/release/write-files.ts images.txt release');
    expect(runs('publish')[0]).toBe('node infra/release/publish.ts release "$REGISTRY/${GITHUB_REPOSITORY,,}"');
    expect(runs('publish').filter((command) => /npm (run|ci|install|exec)|npx|pnpm/.test(command))).toEqual([]);
    // What publish.ts loads must run without node_modules.
    const loaded = ['publish', 'image-files', 'places'].map((name) => read(`infra/release/${name}.ts`)).join('\n');
    expect([...loaded.matchAll(/ from '(?!node:|\.\/(?:image-files|places)\.ts)([^']+)'/g)]).toEqual([]);
  });

  test('uses the Helm that renders the chart in the tests', async () => {
    const helm = workflow.jobs['publish']?.steps.find(({ uses }) => uses?.startsWith('azure/setup-helm@'));
    expect(await runPackaged('helm', ['version', '--template', '{{.Version}}'])).toBe(helm?.with?.['version']);
  });

  test('reads no secret that docs/releasing.md does not name', () => {
    const secrets = [...read('.github/workflows/release.yml').matchAll(/secrets\.(\w+)/g)].map(([, name]) => name);
    const named = [...read('docs/releasing.md').matchAll(/^\| `([A-Z_]+)` /gm)].map(([, name]) => name);
    expect(new Set(secrets)).toEqual(new Set(['GITHUB_TOKEN', ...named]));
  });

  test('first runs what CI runs, and has only the write permissions it needs', () => {
    const ci = checks.jobs['check']?.steps.at(-1);
    expect(workflow.jobs['check']?.steps).toContainEqual(ci);
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const rights = Object.entries(workflow.jobs).map(([name, { permissions }]) => [name, permissions]);
    const publishing = { packages: 'write', 'id-token': 'write', attestations: 'write' };
    expect(Object.fromEntries(rights)).toEqual({
      images: { contents: 'read', ...publishing },
      publish: { contents: 'write', ...publishing },
    });
    // A person approves what is published, and only then npm's token is readable.
    expect(workflow.jobs['publish']?.environment).toBe('release');
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
