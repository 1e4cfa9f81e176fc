import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { run as runPackaged } from '../kubernetes/packaged-tools.ts';
import { composeArchiveName, writeComposeArchive } from './compose-archive.ts';
import { parseImages, pinnedRelease, pinnedValues, type PushedImages } from './image-files.ts';
import { notesOf } from './notes.ts';
import { packAll } from './packages.ts';
import { currentVersion, repositoryRoot } from './places.ts';

// The release workflow and its rehearsal run `node infra/release/write-files.ts IMAGES FOLDER` to write what a release has in addition to
// its images. IMAGES is a file with a line for each pushed image. Everything but the notes is listed in SHA256SUMS.
const [imagesFile = '', folder = ''] = process.argv.slice(2).map((word) => resolve(word));
const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');

const images = parseImages(readFileSync(imagesFile, 'utf8'));
const notes = notesOf(read('CHANGELOG.md'), currentVersion());
if (notes === null) throw new Error(`CHANGELOG.md does not date ${currentVersion()}`);
const release = read('k8s/overlays/production/release/kustomization.yaml');

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
copyFileSync(imagesFile, join(folder, 'images.txt'));
writeFileSync(join(folder, 'kustomization.yaml'), pinnedRelease(release, images));
await writeComposeArchive(images, join(folder, composeArchiveName));
await writeChart(images);
await packAll(folder);
await writeBillOfMaterials();
const sums = readdirSync(folder)
  .toSorted()
  .map((name) => `${sha256(join(folder, name))}  ${name}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
writeFileSync(join(folder, 'notes.md'), notes);

/** The chart with the pushed images as its values, packed by Helm. */
async function writeChart(pushed: PushedImages): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'quittance-chart-'));
  try {
    const chart = join(work, 'quittance');
    cpSync(join(repositoryRoot, 'k8s/charts/quittance'), chart, { recursive: true });
    const services = [...release.matchAll(/name: quittance\/([a-z-]+),/g)].map(([, service = '']) => service);
    const values = pinnedValues(readFileSync(join(chart, 'values.yaml'), 'utf8'), pushed, services);
    writeFileSync(join(chart, 'values.yaml'), values);
    await runPackaged('helm', ['package', chart, '--destination', folder]);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** What the lockfile installs for production, in CycloneDX. Each image has a list of its own, of everything in it, attached to it. */
async function writeBillOfMaterials(): Promise<void> {
  const { packageManager } = JSON.parse(read('package.json')) as { packageManager: string };
  const pnpm = packageManager.split('+')[0] ?? '';
  const file = join(folder, `quittance-${currentVersion()}.cdx.json`);
  const words = ['sbom', '--prod', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--out', file];
  await promisify(execFile)('npx', ['-y', pnpm, ...words], { cwd: repositoryRoot });
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
