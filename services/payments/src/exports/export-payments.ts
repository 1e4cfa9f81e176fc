import { randomUUID } from 'node:crypto';
import type { Cursor } from '@quittance/contracts/payment-cursor.ts';
import type { Payment, PaymentStatus } from '@quittance/contracts/payment.ts';
import { HttpError } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { createSemaphore } from '@quittance/runtime/concurrency/semaphore.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { anything, listPayments } from '../queries/payment-lists.ts';
import { extendExportLease, releaseExportLease, takeExportLease } from '../store/export-lease.ts';
import type { ProgressSources } from '../views/confirmations.ts';
import { toPayments } from '../views/listed-payments.ts';
import type { Writer } from './format.ts';

export type ExportContext = ProgressSources & {
  db: Queryable;
  networks: readonly string[];
  publicBaseUrl: string;
  logger: Logger;
};

export type ExportRequest = {
  merchantId: string;
  status: PaymentStatus | null;
  createdFrom: Date | null;
  createdTo: Date | null;
  writer: Writer;
};

/** Payments in one statement and one piece of the answer: few enough that nobody notices the milliseconds that writing them takes. */
const PAGE = 250;

/** So many exports read at once, each on a connection that nobody else has meanwhile. */
const inTurn = createSemaphore(2);

/** A quarter of the lease, so that a failure or two do not end it. */
const EXTEND_EVERY_MS = 10_000;

/**
 * A merchant's payments, oldest first, piece by piece. All that were created before it began are in it, none twice, each as it is when
 * its piece is read; what is created later is not. Each piece is one short statement, so that it holds up nothing however slowly it is read.
 * @throws HttpError 429 with the first piece, while another export of the merchant is under way.
 */
export async function* exportPayments(context: ExportContext, request: ExportRequest): AsyncGenerator<Buffer, void> {
  const { merchantId, writer } = request;
  const lease = await holdLease(context, merchantId);
  try {
    const createdTo =
      request.createdTo === null || request.createdTo > lease.heldSince ? lease.heldSince : request.createdTo;
    let text = writer.head;
    let count = 0;
    let after: Cursor | null = null;
    do {
      const page = await readPage(context, { ...request, createdTo }, after);
      await lease.keep();
      after = page.next;
      count += page.payments.length;
      text += writer.lines(page.payments) + (after === null ? writer.end(count) : '');
      yield Buffer.from(text);
      text = '';
    } while (after !== null);
  } finally {
    await lease.release();
  }
}

async function readPage(
  { db, networks, publicBaseUrl, ...progress }: ExportContext,
  { merchantId, status, createdFrom, createdTo }: ExportRequest,
  after: Cursor | null,
): Promise<{ payments: Payment[]; next: Cursor | null }> {
  const filter = { ...anything, status, createdFrom, createdTo };
  const part = { after, limit: PAGE, order: 'oldest first' } as const;
  const { payments, next } = await inTurn(() => listPayments(db, merchantId, { networks, filter, part }));
  return { payments: await toPayments(payments, progress, publicBaseUrl), next };
}

/** Held for as long as the export goes on, at whatever pace it is read. A process that was frozen finds that it has lost it. */
async function holdLease({ db, logger }: ExportContext, merchantId: string) {
  const holder = randomUUID();
  const taken = await takeExportLease(db, merchantId, holder);
  if ('secondsLeft' in taken) {
    throw new HttpError(429, 'Another export of this merchant is under way', {
      'retry-after': String(taken.secondsLeft),
    });
  }
  let extendedAt = performance.now();
  const keep = async (): Promise<void> => {
    if (performance.now() - extendedAt < EXTEND_EVERY_MS) return;
    if (!(await extendExportLease(db, merchantId, holder))) throw new Error('the export has lost its lease');
    extendedAt = performance.now();
  };
  // While a slow reader takes its time for one piece, too.
  const timer = setInterval(() => {
    keep().catch((error: unknown) => logger.warn({ error }, 'the lease of an export could not be extended'));
  }, EXTEND_EVERY_MS);
  return {
    heldSince: taken.heldSince,
    keep,
    async release() {
      clearInterval(timer);
      // One that cannot be given back ends by itself.
      await releaseExportLease(db, merchantId, holder).catch((error: unknown) =>
        logger.warn({ error }, 'the lease of an export could not be released'),
      );
    },
  };
}
