import { randomBytes } from 'node:crypto';
import type { Author } from '@quittance/contracts/author.ts';
import type { ResponseOf } from '@quittance/contracts/call.ts';
import { ReadArchivable, REMOVED_AT_ONCE, RemoveArchived } from '@quittance/contracts/http/payments/archive.ts';
import { ReadDeliveries } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { Api } from '../api.ts';
import { Failure } from '../failure.ts';
import {
  checkPart,
  readManifests,
  readPart,
  writeManifest,
  writePart,
  type ArchivedPayment,
  type Manifest,
} from './part.ts';

/** A part is as large as one can be looked through in seconds. */
const PART_PAYMENTS = 100_000;

export type ArchiveRun = {
  api: Api;
  folder: string;
  /** RFC 3339. */
  before: string;
  author: Author;
  /** Writes the files and removes nothing. */
  keep: boolean;
};

/**
 * Writes the payments that ended before a time into files, and removes them from the database afterwards. Every step may be the last one:
 * the next run removes what finished parts have, and writes the rest again.
 * @returns the manifests of the parts it wrote, or went on removing.
 */
export async function archivePayments(run: ArchiveRun): Promise<Manifest[]> {
  const { folder, keep } = run;
  const known = await readManifests(folder);
  const unfinished = known.filter(({ removed }) => removed === null);
  const [first] = unfinished;
  if (keep && first !== undefined)
    throw new Failure('refused', `${first.file} is written, and its payments are not removed yet.`);
  const done: Manifest[] = [];
  for (const manifest of unfinished) done.push(await removePart(run, manifest));
  const left = lookingAhead(readAll(run));
  for (let number = known.length + 1; await left.hasNext(); number += 1) {
    const written = await writePart(folder, {
      // Of two runs at once each has files of its own: none may write over what another has removed payments because of.
      name: `payments-${String(number).padStart(6, '0')}-${randomBytes(4).toString('hex')}`,
      endedBefore: run.before,
      payments: left.take(PART_PAYMENTS),
    });
    done.push(keep ? written : await removePart(run, written));
  }
  return done;
}

/** What may be archived, with its deliveries. A payment of which an event still waits to be delivered is left out. */
async function* readAll({ api, before }: ArchiveRun): AsyncGenerator<ArchivedPayment> {
  for (let after: string | null = ''; after !== null;) {
    // Money sent in dust and long metadata make answers long.
    const page: ResponseOf<typeof ReadArchivable> = await api.large(ReadArchivable, { query: { before, after } });
    const ids = page.payments.map(({ payment_id: id }) => id);
    const { deliveries } =
      ids.length === 0 ? { deliveries: [] } : await api.large(ReadDeliveries, { body: { payment_ids: ids } });
    const ofPayment = Map.groupBy(deliveries, ({ payment_id: id }) => id);
    for (const payment of page.payments) {
      const its = ofPayment.get(payment.payment_id) ?? [];
      if (its.every(({ status }) => status !== 'pending')) yield { ...payment, deliveries: its };
    }
    after = page.next;
  }
}

/** From what the disk has, not from what was read: a file that cannot be read must not be the only copy. */
async function removePart({ api, folder, author }: ArchiveRun, manifest: Manifest): Promise<Manifest> {
  await checkPart(folder, manifest);
  let kept = 0;
  const remove = async (payments: ArchivedPayment[]): Promise<void> => {
    const asWritten = payments.map(({ payment_id, sha256 }) => ({ payment_id, sha256 }));
    kept += (await api.call(RemoveArchived, { body: { payments: asWritten }, author })).kept.length;
  };
  let batch: ArchivedPayment[] = [];
  for await (const payment of readPart(folder, manifest)) {
    batch.push(payment);
    if (batch.length < REMOVED_AT_ONCE) continue;
    await remove(batch);
    batch = [];
  }
  if (batch.length > 0) await remove(batch);
  const finished = { ...manifest, removed: { payments: manifest.payments - kept, kept } };
  await writeManifest(folder, finished);
  return finished;
}

/** Items in groups, without beginning a group that would be empty. */
function lookingAhead<T>(items: AsyncGenerator<T>) {
  let next: IteratorResult<T, unknown> | null = null;
  const peek = async () => (next ??= await items.next());
  return {
    hasNext: async (): Promise<boolean> => (await peek()).done !== true,
    async *take(most: number): AsyncGenerator<T> {
      for (let taken = 0; taken < most; taken += 1) {
        const result = await peek();
        if (result.done === true) return;
        next = null;
        yield result.value;
      }
    },
  };
}
