import assert from 'node:assert/strict';
import { type PaymentStatus, paymentStatuses } from '@quittance/contracts/api/payment.ts';
import { type Command, type Move, type Plan } from './plan.ts';
import { type Ended, explain } from './explain.ts';
import { creation, operationOf, policyDelivery, webhookDelivery } from './operations.ts';
import type { Operation, Performed } from './operation.ts';
import { canonical, runAlone } from './steps.ts';
import { readingDetails, readingList } from './reading.ts';
import { startReplica } from './replica.ts';
import { DAY, REPLY_KEPT } from './rules.ts';
import { paymentAt, type Run, setClock } from './run.ts';
import { readSnapshot } from './snapshot.ts';
import { copyOf, type Model, replyOf, type Snapshot, snapshotOf, usageOf } from './state.ts';
import { changed, firstPolicy } from './other-services.ts';

/** How often a call is made that could not be decided in time. */
const MAX_ATTEMPTS = 5;
/** Thrown when a race had more possible orders than are tried: the rest of the run cannot be judged. */
export class TooManyOrders extends Error {}

/** Sets up each merchant as far as the plan says. */
export async function introduce(run: Run, { merchants }: Plan): Promise<void> {
  for (const [position, start] of merchants.entries()) {
    const policy = firstPolicy(run.merchants[position]!, start);
    if (start.policy !== 'nobody') {
      run.otherServices.quota.set(policy.merchant_id, policy);
      run.policies.push(policy);
    }
    if (start.policy === 'payments') await alone(run, policyDelivery(run, policy));
    if (start.webhook === 'owner') run.otherServices.endpoints.set(policy.merchant_id, run.choices[position]!);
    if (start.webhook === 'payments') await alone(run, webhookDelivery(run, position));
  }
}

export async function execute(run: Run, command: Command): Promise<void> {
  switch (command.do) {
    case 'one':
      return alone(run, operationOf(run, command.call));
    case 'race':
      return race(
        run,
        command.calls.map((call) => operationOf(run, call)),
        command.choices,
      );
    case 'policy': {
      const merchant = run.merchants[command.merchant]!;
      const known = run.otherServices.quota.get(merchant);
      const first = firstPolicy(merchant, { ...newcomer });
      const policy =
        known === undefined ? first : changed(known, command.change, usageOf(run.model, merchant), run.model.now);
      run.otherServices.quota.set(merchant, policy);
      run.policies.push(policy);
      return command.silent ? undefined : alone(run, policyDelivery(run, policy));
    }
    case 'webhook':
      return alone(run, webhookDelivery(run, command.merchant));
    case 'outage':
      if (command.down) run.otherServices.down.add(command.who);
      else run.otherServices.down.delete(command.who);
      return;
    case 'clock':
      return setClock(run, Math.max(run.model.now, targetOf(run, command.move)));
    case 'details':
      return readOne(run, command.place, command.by);
    case 'list':
      return readList(run, run.merchants[command.merchant]!, paymentStatuses[command.status] ?? null, command.pageSize);
  }
}

const newcomer = {
  ...{ beta: false, active: true, total: 4, daily: 2 },
  ...({ policy: 'owner', webhook: 'nobody', events: 'nothing' } as const),
};

/** Every reply is still repeated to the byte after its merchant was stopped, and a repetition is not counted. */
export async function repeatAll(run: Run): Promise<void> {
  run.otherServices.down.clear();
  for (const [merchant, known] of run.otherServices.quota) {
    const paused = { ...known, policy_version: known.policy_version + 1, creation_paused: true, total_limit: 0 };
    run.otherServices.quota.set(merchant, paused);
    await alone(run, policyDelivery(run, paused));
  }
  const replies = run.tried.filter(({ merchant, key }) => replyOf(run.model, merchant, key) !== undefined);
  for (const call of replies.slice(-REPEATED)) await alone(run, creation(run, call));
}

/** Every merchant sees all its payments, on pages so small that there are many, some of them within one millisecond. */
export async function readAll(run: Run): Promise<void> {
  for (const merchant of run.merchants) await readList(run, merchant, null, 2);
}

const REPEATED = 6;

async function alone(run: Run, operation: Operation | null): Promise<void> {
  if (operation === null) return;
  await clearClaims(run, [operation]);
  for (let attempt = 1; ; attempt += 1) {
    const replica = run.replicas[run.trace.length % 2]!;
    const { answer, program, gaveUp } = await operation.perform(replica, false);
    note(run, operation, answer);
    const expected = copyOf(run.model);
    const wanted = runAlone(expected, program);
    if (gaveUp && canonical(answer) !== canonical(wanted) && attempt < MAX_ATTEMPTS) {
      run.undecided += 1;
      continue;
    }
    assert.deepEqual(JSON.parse(canonical(answer)), JSON.parse(canonical(wanted)), `the answer to ${operation.name}`);
    run.model = expected;
    return compare(run, `after ${operation.name}`);
  }
}

async function compare(run: Run, when: string): Promise<void> {
  assert.deepEqual(await look(run), snapshotOf(run.model), `the database ${when}`);
}

async function look(run: Run): Promise<Snapshot> {
  const snapshot = await readSnapshot(run.world.db, run.scope, run.model.now);
  for (const row of snapshot.payments) {
    const [id, , status] = row.split(' ');
    if (id !== undefined && status === 'PAID') run.wasPaid.add(id);
  }
  return snapshot;
}

/** Several calls at once, on two replicas. */
async function race(run: Run, wanted: readonly (Operation | null)[], choices: readonly number[]): Promise<void> {
  // Limits have their own time limit, which a race can exceed.
  const named = wanted.filter((operation) => operation !== null).filter(({ kind }) => kind !== 'limits');
  const operations = withoutTies(named);
  if (operations.length === 0) return;
  await clearClaims(run, operations);
  const others = operations.length > 1;
  const calls = operations.map(
    (operation, position) => (pool: Run['world']['db']) =>
      operation.perform(startReplica(pool, run.parts[position % 2]!), others),
  );
  const { results, waitedForLocks } = await run.world.scheduler.run<Performed>(calls, choices);
  run.trace.push(`at once, choosing ${JSON.stringify(choices)}:`);
  const ended: Ended[] = [];
  for (const [position, result] of results.entries()) {
    const operation = operations[position]!;
    if (result.status === 'rejected') {
      const reason = result.reason instanceof Error ? result.reason.stack : String(result.reason);
      throw new Error(`${operation.name} broke: ${reason}`);
    }
    note(run, operation, result.value.answer);
    ended.push(result.value);
  }
  const snapshot = await look(run);
  const before = run.model.reached.length;
  const found = explain(run.model, ended, snapshot);
  if ('tooMany' in found) throw new TooManyOrders();
  if ('unexplained' in found) throw unexplained(run.model, snapshot);
  run.model = found.model;
  run.undecided += found.stopped;
  if (others) noteRace(run.model, before, waitedForLocks);
}

function unexplained(model: Model, snapshot: object): Error {
  const rows = (of: object): string => JSON.stringify(of, null, 1);
  return new Error(
    `no order of these calls explains their answers and what they left.\nBefore: ${rows(snapshotOf(model))}\nAfter: ${rows(snapshot)}`,
  );
}

/**
 * The clock does not move during a race, and otherwise two payments of a slot could not begin in one millisecond: the first would have to
 * be created, paid and confirmed in it. So when there are transfers, each slot gets one creation.
 */
function withoutTies(operations: readonly Operation[]): Operation[] {
  const money = operations.some(({ kind }) =>
    ['transfer', 'next', 'moved', 'deliver', 'batch', 'accept', 'expire'].includes(kind),
  );
  const slots = new Set<string>();
  return operations.filter(({ slot }) => {
    if (slot === null || !money) return true;
    const isFirst = !slots.has(slot);
    slots.add(slot);
    return isFirst;
  });
}

/** The pauses between two questions about one payment are internal to the loop: here, every round reads all overdue payments. */
async function clearClaims(run: Run, operations: readonly Operation[]): Promise<void> {
  run.model.claimed.clear();
  if (!operations.some(({ kind }) => kind === 'expire')) return;
  await run.world.db.query(
    'update payment set expiry_check_at = expires_at where merchant_id = any($1) and expiry_check_at <> expires_at',
    [run.scope.merchants],
  );
}

async function readOne(run: Run, place: number, by: 'owner' | 'another'): Promise<void> {
  const payment = paymentAt(run, place);
  if (payment === undefined) return;
  const merchant = by === 'owner' ? payment.merchant : run.merchants.find((other) => other !== payment.merchant)!;
  const read = await run.replicas[0].details(merchant, payment.id);
  assert.deepEqual(read, runAlone(run.model, readingDetails(merchant, payment.id, run.settings)), 'the details');
}

async function readList(run: Run, merchant: string, status: PaymentStatus | null, pageSize: number): Promise<void> {
  const read = await run.replicas[1].list(merchant, status, pageSize);
  assert.deepEqual(read, runAlone(run.model, readingList(merchant, status, run.settings)), 'the list');
}

function targetOf(run: Run, move: Move): number {
  const { now } = run.model;
  if ('by' in move) return now + move.by;
  const payment = paymentAt(run, move.of);
  switch (move.to) {
    case 'expiry':
      return (payment?.expiresAt ?? now) + move.milliseconds;
    case 'end of reply':
      return (payment === undefined ? now : payment.createdAt + REPLY_KEPT) + move.milliseconds;
    case 'end of beta': {
      const ends = run.otherServices.quota.get(run.merchants[move.of]!)?.beta_expires_at ?? null;
      return (ends === null ? now : Date.parse(ends)) + move.milliseconds;
    }
    case 'midnight':
      return now - (now % DAY) + DAY + move.milliseconds;
  }
}

function note(run: Run, { name }: Operation, answer: unknown): void {
  run.trace.push(`${new Date(run.model.now).toISOString()} ${name} → ${JSON.stringify(answer)}`);
}

/** Names what a race has shown. */
function noteRace(model: Model, before: number, waitedForLocks: boolean): void {
  const reached = new Set(model.reached.slice(before));
  const both = (name: string, one: string, other: string): void => {
    if (reached.has(one) && reached.has(other)) model.reached.push(`race: ${name}`);
  };
  model.reached.push('race: explained');
  if (waitedForLocks) model.reached.push('race: a call waited for the lock of another');
  both('one key, a creation and its replay', 'creation: created', 'creation: replayed');
  both('one slot, one creation', 'creation: created', 'creation: slot_taken');
  both('a creation against the last of a quota', 'creation: created', 'creation: total_quota_exhausted');
  both('a transfer before a cancellation', 'payment: PENDING → CHECKING', 'cancel: refused for CHECKING payment');
  both('a cancellation before a transfer', 'payment: PENDING → CANCELLED', 'unmatched: after_cancel');
  both('two transfers for one payment', 'payment: PENDING → PAID', 'unmatched: duplicate');
}
