import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { images as used } from '@quittance/local-backends/container.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { docker } from './docker.ts';
import { freshCheckout } from './checkout.ts';
import type { Project } from './compose.ts';
import type { PartContext } from './part.ts';

/** The images that containers run. */
export type Images = {
  /** The version of our images, from package.json. */
  version: string;
  /** Whether stand-ins replace third-party images, because no registry is reachable. */
  areStandIns: boolean;
  /** Arguments for `docker compose build`. */
  buildWords: string[];
  /** Tags stand-ins with the names by which the local stack and the tests use third-party images. */
  nameStandIns(): void;
  /** Builds our images at the first call. */
  ours(): Promise<void>;
};

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');

/** Pulls third-party images from their registry, or builds stand-ins if it is unreachable. */
export async function prepareImages(say: (line: string) => void): Promise<Images> {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const areStandIns = !(await isBaseThere());
  if (areStandIns) {
    say('images  of third parties cannot be pulled; stand-ins are built from packages');
    makeStandIns();
  }
  const images: Images = {
    version,
    areStandIns,
    buildWords: ['build', '--quiet', ...(areStandIns ? ['--build-arg', 'NODE_DIGEST='] : [])],
    nameStandIns: () => {
      if (!areStandIns) return;
      for (const [name, image] of Object.entries(used)) execFileSync('docker', ['tag', `stand-in/${name}`, image]);
    },
    ours: () => (built ??= buildOurs(images, say)),
  };
  let built: Promise<void> | undefined;
  return images;
}

function buildOurs(images: Images, say: (line: string) => void): Promise<void> {
  const files =
    'docker-compose.yml:docker-compose.notices.yml:docker-compose.single.yml:docker-compose.single-notices.yml';
  return buildImages({ ...images, say }, { version: images.version, files }, (onEnd) =>
    freshCheckout(images.version, onEnd),
  );
}

/** Builds every image that these compose files of a checkout name, all together. @param version of the images. */
export async function buildImages(
  { buildWords, say }: Pick<Images, 'buildWords'> & Pick<PartContext, 'say'>,
  { version, files }: { version: string; files: string },
  checkOut: (onEnd: PartContext['onEnd']) => Promise<Project>,
): Promise<void> {
  const closers: (() => Promise<unknown>)[] = [];
  try {
    const project = await checkOut((close) => closers.unshift(close));
    await project.set({ COMPOSE_FILE: files, QUITTANCE_VERSION: version });
    await project.compose('--profile', '*', ...buildWords);
    say(`images  of ${version} are built`);
  } finally {
    for (const close of closers) await close();
  }
}

const [, nodeVersion = '', nodeDigest = ''] =
  /^ARG NODE_VERSION=(.*)\nARG NODE_DIGEST=(.*)$/m.exec(read('infra/docker/Dockerfile')) ?? [];

/** Whether the base of our images is available; none can be built without it. */
function isBaseThere(): Promise<boolean> {
  return docker('pull', '--quiet', `node:${nodeVersion}-trixie-slim${nodeDigest}`).then(
    () => true,
    () => false,
  );
}

function makeStandIns(): void {
  const [, foundry = ''] = /foundry:v([\d.]+)@/.exec(read('docker-compose.yml')) ?? [];
  execFileSync('sh', [join(import.meta.dirname, 'stand-ins', 'make.sh'), nodeVersion, foundry], { stdio: 'inherit' });
}

/** For the end of COMPOSE_FILE: files that put stand-ins into these compose files. */
export function standInsOf({ areStandIns }: Images, files: readonly string[]): string[] {
  if (!areStandIns) return [];
  const folder = 'tests/engine/stand-ins';
  const has = (file: string): boolean => files.includes(file);
  return [
    `${folder}/compose.yml`,
    ...(has('docker-compose.tls.yml') ? [`${folder}/tls.yml`] : []),
    ...(has('docker-compose.alerts.yml') ? [`${folder}/alerts.yml`] : []),
  ];
}
