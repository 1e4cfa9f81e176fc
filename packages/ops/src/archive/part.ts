import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { ArchivablePayment } from '@quittance/contracts/http/payments/archive.ts';
import type { ArchivedDelivery } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { Failure } from '../failure.ts';

/** One line of a part. */
export type ArchivedPayment = ArchivablePayment & { deliveries: ArchivedDelivery[] };

/**
 * The content of `<part>.manifest.json`, which is written last: a part without one is what a run left that did not end.
 * `removed`: how many of its payments are no longer in the database, and how many are there all the same; null before all of them were
 * gone through.
 */
export type Manifest = {
  file: string;
  payments: number;
  bytes: number;
  /** Of the file, lowercase hex. */
  sha256: string;
  first_payment_id: string;
  last_payment_id: string;
  ended_before: string;
  removed: { payments: number; kept: number } | null;
};

const SUFFIX = '.manifest.json';
/** Whose payments are nobody else's business. */
const PRIVATE = 0o600;

/** @returns the manifests of a folder, the oldest part first. */
export async function readManifests(folder: string): Promise<Manifest[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(SUFFIX)).sort();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as Manifest));
}

/**
 * Writes a part whole, onto the disk, and then its manifest.
 * @param name no other part has it.
 * @param payments at least one.
 */
export async function writePart(
  folder: string,
  { name, endedBefore, payments }: { name: string; endedBefore: string; payments: AsyncIterable<ArchivedPayment> },
): Promise<Manifest> {
  const file = `${name}.jsonl.gz`;
  const hash = createHash('sha256');
  const ids: { first: string; last: string; count: number } = { first: '', last: '', count: 0 };
  let bytes = 0;
  async function* lines() {
    for await (const payment of payments) {
      if (ids.count === 0) ids.first = payment.payment_id;
      ids.last = payment.payment_id;
      ids.count += 1;
      yield `${JSON.stringify(payment)}\n`;
    }
  }
  await writeWhole(folder, file, async (write) => {
    await pipeline(Readable.from(lines()), createGzip(), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
        await write(chunk);
      }
    });
  });
  const manifest: Manifest = {
    ...{ file, payments: ids.count, bytes, sha256: hash.digest('hex') },
    ...{ first_payment_id: ids.first, last_payment_id: ids.last, ended_before: endedBefore, removed: null },
  };
  await writeManifest(folder, manifest);
  return manifest;
}

export const writeManifest = (folder: string, manifest: Manifest): Promise<void> =>
  writeWhole(folder, manifest.file.replace('.jsonl.gz', SUFFIX), (write) =>
    write(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)),
  );

/** @throws Failure when the part is not what its manifest says: nothing may be removed because of it. */
export async function checkPart(folder: string, { file, sha256 }: Manifest): Promise<void> {
  const path = join(folder, file);
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), hash);
  } catch (error) {
    throw new Failure('refused', `${path} cannot be read: ${String(error)}`);
  }
  if (hash.digest('hex') !== sha256)
    throw new Failure('refused', `${path} is not what was written: its SHA-256 differs`);
}

/** @returns the payments of a part, in its order. */
export async function* readPart(folder: string, { file }: Manifest): AsyncGenerator<ArchivedPayment> {
  const lines = createInterface({
    input: createReadStream(join(folder, file)).pipe(createGunzip()),
    crlfDelay: Infinity,
  });
  for await (const line of lines) yield JSON.parse(line) as ArchivedPayment;
}

/** @throws Failure for a folder in which a part could not be kept. */
export async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true) throw new Failure('wrongUse', `${folder} is no folder. Make it first.`);
}

/** The file appears under its name once it is whole, and its name is on the disk when this returns. */
async function writeWhole(
  folder: string,
  name: string,
  fill: (write: (chunk: Buffer) => Promise<void>) => Promise<void>,
): Promise<void> {
  const path = join(folder, name);
  const file = await open(`${path}.partial`, 'w', PRIVATE);
  try {
    await fill((chunk) => file.appendFile(chunk));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.partial`, path);
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
