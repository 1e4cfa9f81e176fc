import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../docker.ts';
import type { PartContext } from '../part.ts';

/** Files of a key pair, and the public key of another one, with which nothing was signed. */
export type Keys = { private: string; public: string; foreign: string };

export async function makeKeys(folder: string): Promise<Keys> {
  for (const name of ['release', 'foreign'])
    await run('cosign', ['generate-key-pair', '--output-key-prefix', name], {
      cwd: folder,
      env: { ...process.env, COSIGN_PASSWORD: '' },
    });
  const file = (name: string): string => join(folder, name);
  return { private: file('release.key'), public: file('release.pub'), foreign: file('foreign.pub') };
}

type Signed = { images: string; folder: string; files: string; version: string; keys: Keys };

/** What docs/releasing.md tells users to verify, by the key instead of the workflow's identity; and that each check can fail. */
export async function verifyAll(release: Signed, pushed: readonly string[], say: PartContext['say']): Promise<void> {
  const { images, folder, files, version, keys } = release;
  const offline = '--insecure-ignore-tlog=true';
  const chart = `${images}/quittance/charts/quittance:${version}`;
  for (const artifact of [...pushed, chart]) {
    await run('cosign', ['verify', '--key', keys.public, offline, artifact]);
    await requireRefusal(
      `${artifact} has a foreign signature`,
      'cosign',
      'verify',
      '--key',
      keys.foreign,
      offline,
      artifact,
    );
  }
  say(`verified the signatures of ${pushed.length} images and the chart; another key is refused`);

  // Without the authorities of the public log, which cosign would fetch even for a key.
  const root = join(folder, 'trusted-root.json');
  await writeFile(root, '{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1"}');
  const blob = (sums: string) => {
    const bundle = ['--new-bundle-format', '--trusted-root', root, '--bundle', join(files, 'SHA256SUMS.sigstore.json')];
    return ['verify-blob', '--key', keys.public, offline, ...bundle, sums];
  };
  await run('cosign', blob(join(files, 'SHA256SUMS')));
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: files });
  const changed = join(folder, 'SHA256SUMS');
  await writeFile(changed, (await readFile(join(files, 'SHA256SUMS'), 'utf8')).replace(/^./, 'x'));
  await requireRefusal('changed sums are accepted', 'cosign', ...blob(changed));
  const copy = join(folder, 'copy');
  await cp(files, copy, { recursive: true });
  await writeFile(join(copy, 'kustomization.yaml'), 'changed');
  await requireRefusal('a changed file is accepted', 'sh', '-c', `cd ${copy} && sha256sum --check SHA256SUMS`);
  say('verified the signature of SHA256SUMS and the sum of each file; a change of either is refused');
}

/** @throws Error with the message if the command succeeds. */
export async function requireRefusal(message: string, program: string, ...words: string[]): Promise<void> {
  const refused = await run(program, words).then(
    () => false,
    () => true,
  );
  if (!refused) throw new Error(message);
}
