import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { validate, ValidationSeverity } from 'dockerfile-utils';
import { contextFiles, isInContext } from './support/build-context.ts';
import {
  dockerfileText,
  finalInstruction,
  finalStage,
  healthCommand,
  imageCommand,
  imageEnvironment,
  instructions,
  nodeEnvironment,
} from './support/dockerfile.ts';

const manifest = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
  version: string;
  devDependencies: Record<string, string>;
};
const layout = readFileSync(join(repositoryRoot, 'infra', 'docker', 'layout.sh'), 'utf8');
const of = (keyword: string) => instructions.filter((instruction) => instruction.keyword === keyword);
const argument = (name: string) =>
  of('ARG')
    .find(({ text }) => text.startsWith(`${name}=`))
    ?.text.slice(name.length + 1);

describe('the Dockerfile', () => {
  test('has nothing that confuses a builder or a reader', () => {
    const strict = Object.fromEntries(
      [
        'deprecatedMaintainer',
        'directiveCasing',
        'emptyContinuationLine',
        'instructionCasing',
        'instructionCmdMultiple',
        'instructionEntrypointMultiple',
        'instructionHealthcheckMultiple',
        'instructionJSONInSingleQuotes',
        'instructionWorkdirRelative',
      ].map((rule) => [rule, ValidationSeverity.ERROR]),
    );
    expect(validate(dockerfileText, strict).map(({ message, range }) => [range.start.line + 1, message])).toEqual([]);
  });

  test('is based only on Node, with the tested version, and with a digest if one is given', () => {
    const stages = new Set(of('FROM').map(({ stage }) => stage));
    const bases = of('FROM').map(({ text }) => text.split(' ')[0]!);
    expect(bases.filter((base) => !stages.has(base))).toEqual(['node:${NODE_VERSION}-trixie-slim${NODE_DIGEST}']);
    expect(argument('NODE_VERSION')).toBe(manifest.devDependencies['node']);
    expect(argument('NODE_VERSION')).toMatch(/^\d+\.\d+\.\d+$/);
    expect(argument('NODE_DIGEST')).toMatch(/^@sha256:[0-9a-f]{64}$/);
  });

  test('leaves out of the image what only the build needs', () => {
    const copies = finalStage.filter(({ keyword }) => keyword === 'COPY' || keyword === 'ADD');
    expect(copies.map(({ text }) => text)).toEqual([
      '--from=layout /app /app',
      '--from=compiled /tmp/compile-cache /compile-cache',
    ]);
    expect(finalStage[0]!.text).toBe('node AS image');
    expect(finalInstruction('RUN')).toContain('rm -rf /usr/local/lib/node_modules');
  });

  test('runs as user 10001, set by number, after everything that root does', () => {
    expect(finalInstruction('USER')).toBe('10001:10001');
    const user = finalStage.findIndex(({ keyword }) => keyword === 'USER');
    expect(finalStage.slice(user).map(({ keyword }) => keyword)).not.toContain('RUN');
    expect(finalStage.map(({ text }) => text).join()).not.toMatch(/chown|chmod/);
  });

  test('starts Node itself, without a shell between it and its signals', () => {
    expect(JSON.parse(finalInstruction('ENTRYPOINT'))).toEqual([]);
    expect(imageCommand).toEqual(['node', 'main.ts']);
    expect(healthCommand[0]).toBe('node');
    expect(finalInstruction('STOPSIGNAL')).toBe('SIGTERM');
    expect(imageEnvironment).toEqual({ NODE_ENV: 'production', PORT: '8080' });
    expect(finalInstruction('EXPOSE')).toBe(imageEnvironment['PORT']);
  });

  test('contains a compile cache for its user, which no process in the container can change', () => {
    expect(nodeEnvironment).toEqual({
      NODE_COMPILE_CACHE: '/compile-cache',
      MALLOC_ARENA_MAX: '2',
      NODE_OPTIONS: '--max-semi-space-size=8',
    });
    const compiled = of('USER').find(({ stage }) => stage === 'compiled');
    expect(compiled?.text).toBe(finalInstruction('USER'));
  });

  test('labels the image', () => {
    expect(argument('VERSION')).toBe(manifest.version);
    const names = [...finalInstruction('LABEL').matchAll(/org\.opencontainers\.image\.(\w+)=/g)].map(
      ([, name]) => name,
    );
    expect(names).toEqual(['title', 'description', 'version', 'revision']);
  });

  test('has every package that a package in it links to, wherever it is in the workspace', () => {
    const workspace = readFileSync(join(repositoryRoot, 'pnpm-workspace.yaml'), 'utf8');
    const [, list = ''] = /^packages:\n((?: {2}- .*\n)+)/.exec(workspace) ?? [];
    const folders = list.matchAll(/- (\w+)\/\S+/g);
    const searched = layout.match(/\w+(?=\/\*\/node_modules\/@quittance\/\*)/g);
    expect(searched?.toSorted()).toEqual([...new Set(Array.from(folders, ([, folder]) => folder))].sort());
  });

  test('installs exactly the lockfile, with the pnpm that package.json names', () => {
    const installing = /^.*\b(?:npx|npm install|pnpm install|pnpm add|apt-get|curl|wget)\b.*$/gm;
    const commands = layout
      .replace(/^\s*#.*$/gm, '')
      .match(installing)
      ?.map((line) => line.trim());
    expect(commands).toEqual([
      'LAYOUT_HAS_PNPM=yes exec npx --yes --package "$pnpm" -- sh infra/docker/layout.sh "$@"',
      'CI=true pnpm install --frozen-lockfile --trust-lockfile --ignore-scripts "$@"',
    ]);
    expect(layout).toContain(`pnpm=$(node -p 'require("./package.json").packageManager.split("+")[0]')`);
    expect(of('RUN').filter(({ text }) => /\b(apt-get|apk|curl|wget|npm install)\b/.test(text))).toEqual([]);
  });

  test('has no secret in a layer', () => {
    const named = instructions.filter(({ keyword }) => keyword === 'ARG' || keyword === 'ENV');
    expect(named.filter(({ text }) => /token|secret|password|key|url/i.test(text))).toEqual([]);
    expect(of('COPY').filter(({ text }) => /\.env|\.npmrc/.test(text))).toEqual([]);
  });
});

describe('.dockerignore', () => {
  test.each([
    '.env',
    '.env.production',
    'chain-watcher.env',
    '.git/config',
    '.local/stack.json',
    'node_modules/pg/package.json',
    'services/payments/.env',
    'services/payments/node_modules/pg/package.json',
    'services/payments/generated/client.ts',
    'services/payments/test/world.ts',
    'infra/local/.local/secrets.json',
    'tests/docs/settings.test.ts',
    'something-new.json',
  ])('keeps %s out', (path) => expect(isInContext(path)).toBe(false));

  test('includes the sources of the images, the lockfile and every package.json of the workspace', () => {
    const files = contextFiles();
    for (const path of [
      'pnpm-lock.yaml',
      'pnpm-workspace.yaml',
      'package.json',
      'tests/package.json',
      'infra/local/package.json',
      'packages/testkit/package.json',
      'services/payments/prisma/schema.prisma',
      'services/quota/migrations/0001_baseline.sql',
      'packages/messaging/sql/replay_messages.sql',
      'docs/openapi.yaml',
      'docs/guide/README.md',
      'docs/webhooks.md',
      'docs/vectors/webhook-signatures.json',
    ]) {
      expect(files).toContain(path);
    }
    expect(files.filter((path) => /\.test\.ts$|(^|\/)\.env/.test(path))).toEqual([]);
  });
});
