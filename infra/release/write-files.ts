import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { composeOverride, parseImages, pinnedRelease } from './image-files.ts';
import { notesOf } from './notes.ts';
import { currentVersion, repositoryRoot } from './places.ts';

// The release workflow runs `node infra/release/write-files.ts IMAGES FOLDER` to write what a release has in addition to its images. IMAGES
// is a file with a line for each pushed image.
const [imagesFile = '', folder = ''] = process.argv.slice(2);
const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');

const images = parseImages(readFileSync(imagesFile, 'utf8'));
/** The containers of a compose file that run our images, and which image. */
const containersOf = (file: string): Record<string, string> => {
  const compose = parse(read(file), { merge: true, maxAliasCount: -1 }) as {
    services: Record<string, { image?: string }>;
  };
  const ours = Object.entries(compose.services).flatMap(([container, { image = '' }]) => {
    const name = /^quittance\/([a-z-]+):/.exec(image)?.[1];
    return name === undefined ? [] : [[container, name] as const];
  });
  return Object.fromEntries(ours);
};
const notes = notesOf(read('CHANGELOG.md'), currentVersion());
if (notes === null) throw new Error(`CHANGELOG.md does not date ${currentVersion()}`);

mkdirSync(folder, { recursive: true });
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
write('notes.md', notes);
write('docker-compose.images.yml', composeOverride(images, containersOf('docker-compose.yml')));
write('docker-compose.single.images.yml', composeOverride(images, containersOf('docker-compose.single.yml')));
write('kustomization.yaml', pinnedRelease(read('k8s/overlays/production/release/kustomization.yaml'), images));
