import { randomUUID } from 'node:crypto';
import {
  CreatePayment,
  CreatePayments,
  CREATIONS_MAX,
  type CreationOfMerchant,
} from '@quittance/contracts/http/payments/payments.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import type { ServiceResponse } from '@quittance/http/client/request.ts';
import { causesOf } from '@quittance/http/errors.ts';
import { type Caller, currentCaller, jointCaller, withCaller } from '@quittance/runtime/concurrency/caller.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { createMicroBatcher } from '@quittance/runtime/concurrency/micro-batch.ts';
import { currentRequestId, type Logger } from '@quittance/runtime/logger.ts';
import { onBehalfOf } from '@quittance/runtime/tracing/on-behalf-of.ts';
import { currentSpan, type Span } from '@quittance/runtime/tracing/tracing.ts';
import type { Creation } from './creation.ts';

/** Creates a payment of this merchant in payments. @throws ServiceUnavailable, and then nothing is stored. */
export type CreateUpstream = (merchantId: string, creation: Creation) => Promise<ServiceResponse>;

type Member = {
  merchantId: string;
  creation: Creation;
  caller: Caller | null;
  requestId: string;
  span: Span | undefined;
};

type Found = ReadonlyMap<Member, ServiceResponse | Promise<ServiceResponse>>;
const none: Found = new Map();

/** Batches sent concurrently; creations that arrive meanwhile form the next one. */
const AT_ONCE = 2;
/** A caller with less time left is not put into a batch, because it would shorten the batch's time limit. */
const LEAST_TIME_MS = 750;
/** How long a creation takes on a busy machine. */
const LONE_MS = 50;

/**
 * Creations of different merchants that wait at the same time share one call, and in payments one transaction (docs/adr/0010). A creation gets its own call if it is
 * alone, if payments leaves it out, or if its batch fails: its idempotency key makes the second call safe.
 */
export function createCreations({ payments, logger }: { payments: ServiceClient; logger: Logger }): CreateUpstream {
  const askTogether = createMicroBatcher<Member, ServiceResponse | null>({
    maxSize: CREATIONS_MAX,
    concurrency: AT_ONCE,
    async run(members) {
      const group = onePerMerchant(members.filter(hasTime));
      const found = group.length > 1 ? await ask(group).catch(reportFailure) : await askLone(group);
      return members.map((member) => found.get(member) ?? null);
    },
  });

  const askAlone = (merchantId: string, creation: Creation): Promise<ServiceResponse> =>
    payments.send(CreatePayment, { params: { merchant_id: merchantId }, body: creation });

  /** Counts as a batch, so that others gather meanwhile; but only for a moment, because it may wait for a lock. */
  async function askLone([only]: readonly Member[]): Promise<Found> {
    if (only === undefined) return none;
    const { caller, merchantId, creation } = only;
    const answer = onBehalfOf([only], () => withCaller(caller, () => askAlone(merchantId, creation)));
    await withTimeout(LONE_MS, answer).catch(() => undefined);
    return new Map([[only, answer]]);
  }

  /** Not an error: each creation is sent alone next. */
  function reportFailure(error: unknown): Found {
    logger.warn({ reason: causesOf(error as Error).map(({ message }) => message) }, 'creations are sent one by one');
    return none;
  }

  /** Ends when the first caller stops waiting, so that payments commits nothing for a caller that is gone. */
  async function ask(group: readonly Member[]): Promise<Found> {
    const creations = group.map(toCreation);
    const { created } = await onBehalfOf(group, () =>
      withCaller(jointCaller(group.map(({ caller }) => caller)), () =>
        payments.call(CreatePayments, { body: { creations } }),
      ),
    );
    const byKey = new Map(created.map((decided) => [`${decided.merchant_id} ${decided.idempotency_key}`, decided]));
    return new Map(
      group.flatMap((member) => {
        const decided = byKey.get(`${member.merchantId} ${member.creation.idempotency_key}`);
        return decided === undefined ? [] : [[member, toResponse(decided)]];
      }),
    );
  }

  return async (merchantId, creation) => {
    const requestId = currentRequestId() ?? randomUUID();
    const member = { merchantId, creation, caller: currentCaller(), requestId, span: currentSpan() };
    const created = await askTogether(member);
    return created ?? askAlone(merchantId, creation);
  };
}

const hasTime = ({ caller }: Member): boolean =>
  caller === null || (!caller.hungUp.aborted && caller.remainingMs() >= LEAST_TIME_MS);

/** The next creation of a merchant depends on the counters that the first one changes, so payments would leave it out. */
function onePerMerchant(members: readonly Member[]): Member[] {
  const merchants = new Set<string>();
  return members.filter(({ merchantId }) => !merchants.has(merchantId) && merchants.add(merchantId));
}

const toCreation = ({ merchantId, creation, requestId, span }: Member): CreationOfMerchant => ({
  ...creation,
  merchant_id: merchantId,
  request_id: requestId,
  ...(span !== undefined && { traceparent: span.traceparent }),
});

/** The answer that CreatePayment would have given. */
const toResponse = ({ replayed, body }: { replayed: boolean; body: string }): ServiceResponse => ({
  status: CreatePayment.status,
  headers: replayed ? { 'idempotency-replayed': 'true' } : {},
  body: Buffer.from(body),
});
