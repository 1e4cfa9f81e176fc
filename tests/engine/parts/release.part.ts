import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { composeArchiveName } from '../../../infra/release/compose-archive.ts';
import { imageNames } from '../../../infra/release/image-names.ts';
import { packagedTool } from '../../../infra/kubernetes/packaged-tools.ts';
import { composeFolder } from '../checkout.ts';
import { deploy, type Deployment } from '../deployment.ts';
import { docker, run } from '../docker.ts';
import type { Part, PartContext } from '../part.ts';
import { startRegistries, type Registries } from '../release/registries.ts';
import { makeKeys, requireRefusal, verifyAll, type Keys } from '../release/verify.ts';

/** @property folder of everything of this run. @property files the folder that the release's page would show. */
type Release = Registries & { folder: string; files: string; version: string; keys: Keys };

export const part: Part = {
  name: 'release',
  about:
    'the release: images, chart and packages go into registries on this machine, by the scripts of the workflow; their signatures are ' +
    'verified; and a deployment and a shop are installed from these registries and the release’s files alone',
  run: async (context) => {
    const { images, say, onEnd } = context;
    const folder = await mkdtemp(join(tmpdir(), 'quittance-release-'));
    onEnd(() => rm(folder, { recursive: true, force: true }));
    await bringPrograms(folder);
    const missing = await missingProgram();
    if (missing !== undefined) return `${missing} is not installed here (an older .local/engine/machine lacks it)`;
    await images.ours();

    const registries = await startRegistries(folder, onEnd);
    const files = join(folder, 'files');
    const release = { ...registries, folder, files, version: images.version, keys: await makeKeys(folder) };
    const pushed = await pushImages(release, say);
    await publish(release, say);
    await verifyAll(release, pushed, say);
    await requireChart(release, pushed, say);
    const deployment = await deployArchive(release, pushed, context);
    await useSdk(release, deployment, say);
    return undefined;
  },
};

/** npm from its folder, and Helm as the manifests are made with, come first in PATH. */
async function bringPrograms(folder: string): Promise<void> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  await symlink(await packagedTool('helm'), join(bin, 'helm')).catch(() => undefined);
  const { NPM_FOLDER: npm = '', PATH: path = '' } = process.env;
  process.env['PATH'] = [bin, npm, dirname(process.execPath), path].filter(Boolean).join(delimiter);
}

async function missingProgram(): Promise<string | undefined> {
  for (const program of ['cosign', 'docker-registry', 'npm', 'verdaccio', 'helm'])
    if ((await run('sh', ['-c', `command -v ${program} || true`])) === '') return program;
  return undefined;
}

/** @returns each image by its digest, `NAME@sha256:…`; the engine no longer has them. */
async function pushImages({ images, folder, version }: Release, say: PartContext['say']): Promise<string[]> {
  const pushed: [name: string, reference: string][] = [];
  for (const name of imageNames()) {
    const target = `${images}/quittance/${name}`;
    await docker('tag', `quittance/${name}:${version}`, `${target}:${version}`);
    await docker('push', '--quiet', `${target}:${version}`);
    const digests = (await docker('inspect', '--format', '{{join .RepoDigests " "}}', `${target}:${version}`)).trim();
    pushed.push([name, digests.split(' ').find((digest) => digest.startsWith(target))!]);
    await docker('rmi', `${target}:${version}`);
  }
  await writeFile(join(folder, 'images.txt'), pushed.map((line) => `${line.join(' ')}\n`).join(''));
  say(`pushed  ${pushed.length} images`);
  return pushed.map(([, reference]) => reference);
}

/** As .github/workflows/release.yml does, with a key in place of the workflow's identity. */
async function publish(release: Release, say: PartContext['say']): Promise<void> {
  const { folder, files, images, keys, npmSettings } = release;
  const script = (name: string, env: NodeJS.ProcessEnv, ...words: string[]) =>
    run(process.execPath, [join('infra/release', name), ...words], {
      cwd: repositoryRoot,
      env: { ...process.env, ...env },
    });
  const { NPM_REGISTRY: registry = '' } = process.env;
  const authorities = '/etc/ssl/certs/ca-certificates.crt';
  const outside = {
    GITHUB_REPOSITORY: 'shop/quittance',
    npm_config_registry: registry,
    npm_config_cafile: authorities,
    NODE_EXTRA_CA_CERTS: authorities,
  };
  await script('write-files.ts', outside, join(folder, 'images.txt'), files);
  say(`written ${(await readFile(join(files, 'SHA256SUMS'), 'utf8')).match(/\S+$/gm)!.join(', ')}`);
  const words = [files, `${images}/quittance`, '--key', keys.private];
  const first = await script('publish.ts', { npm_config_userconfig: npmSettings, COSIGN_PASSWORD: '' }, ...words);
  for (const line of first.trim().split('\n')) say(line);
  const again = await script('publish.ts', { npm_config_userconfig: npmSettings, COSIGN_PASSWORD: '' }, ...words);
  if (!/^has +@quittance\/sdk@/m.test(again)) throw new Error(`publishing again: ${again}`);
  say('published again, which changed nothing');
}

/** What the chart of the registry runs is what was pushed. */
async function requireChart({ images, version }: Release, pushed: string[], say: PartContext['say']): Promise<void> {
  const chart = `oci://${images}/quittance/charts/quittance`;
  const text = await run('helm', ['template', 'shop', chart, '--version', version, '--plain-http']);
  const used = new Set(
    [...text.matchAll(/image: '?"?(\S+\/quittance\/[a-z-]+):([\d.]+)@(sha256:[0-9a-f]{64})/g)].map(
      ([, name, , digest]) => `${name}@${digest}`,
    ),
  );
  const strange = [...used].filter((image) => !pushed.includes(image));
  if (used.size < 6 || strange.length > 0 || text.includes('registry.example.com'))
    throw new Error(`the chart runs ${[...used].join(', ')}`);
  say(`chart   ${chart} ${version} runs ${used.size} of these images, by digest`);
}

/** A server that has the archive and the registry, and no checkout. */
async function deployArchive(release: Release, pushed: string[], context: PartContext): Promise<Deployment> {
  const { files, images, version } = release;
  for (const reference of pushed)
    await requireRefusal(`the engine already has ${reference}`, 'docker', 'image', 'inspect', reference);
  const checkout = await composeFolder(join(files, composeArchiveName), version, context.onEnd);
  const deployment = await deploy(context, { checkout, options: ['--own-proxy'] });
  const ours = (await deployment.containers()).filter(({ image }) => image.includes('quittance/'));
  const pulled = ours.filter(({ image }) => pushed.includes(image));
  // The receiver is the test's own, from shop.yml.
  const others = ours.filter(({ image, service }) => !pushed.includes(image) && service !== 'receiver');
  if (pulled.length < 6 || others.length > 0)
    throw new Error(`these containers run something else: ${others.map(({ image }) => image).join(', ')}`);
  context.say(`pulled  from ${images}: ${pulled.length} containers run the release, by digest`);
  return deployment;
}

const shop = `
import { createClient } from '@quittance/sdk';
const client = createClient({ baseUrl: process.env.URL, apiKey: process.env.KEY });
console.log(JSON.stringify(await client.getLimits()));
`;

/** A shop in an empty folder installs the SDK and asks the deployment. */
async function useSdk(release: Release, deployment: Deployment, say: PartContext['say']): Promise<void> {
  const folder = join(release.folder, 'shop');
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  const env = { ...process.env, npm_config_userconfig: release.npmSettings };
  const wanted = `@quittance/sdk@${release.version}`;
  await run('npm', ['install', '--no-audit', '--no-fund', wanted], { cwd: folder, env });
  await writeFile(join(folder, 'shop.mjs'), shop);
  const installed = JSON.parse(await readFile(join(folder, 'node_modules/@quittance/sdk/package.json'), 'utf8')) as {
    repository?: { url: string };
  };
  // npm refuses provenance unless this is the repository of the workflow.
  if (installed.repository?.url !== 'git+https://github.com/shop/quittance.git')
    throw new Error(`the SDK names its repository ${installed.repository?.url ?? 'nowhere'}`);
  const words = ['--name', 'SDK shop', '--unlimited', '--actor', 'engine', '--reason', 'release', '--json'];
  const { api_key: key } = JSON.parse(await deployment.ops('merchant', 'create', ...words)) as { api_key: string };
  const answer = await run(process.execPath, ['shop.mjs'], {
    cwd: folder,
    env: { ...env, URL: deployment.edgeUrl, KEY: key },
  });
  if (!answer.startsWith('{')) throw new Error(`the SDK got ${answer}`);
  say(`sdk     ${wanted} of the registry got ${answer.trim()}`);
}
