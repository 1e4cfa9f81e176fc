import {
  CHECKED_AT_ONCE,
  ReportCheck,
  CheckPayingTransfers,
  ListToldTransfers,
  type Violation,
  CheckCounters,
  CheckLedger,
  CheckPayments,
  CheckEvents,
} from '@quittance/contracts/http/check.ts';
import { ReadChains } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { CheckUsage } from '@quittance/contracts/http/quota.ts';
import { checkSystem as row } from '@quittance/operator/machinery.ts';
import { facts, text, type View } from '@quittance/operator/view.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { Api } from './api.ts';
import { Failure } from './failure.ts';
import { own } from './run.ts';
import { printResult } from './text.ts';

const WEEK_MS = 7 * 86_400_000;

/** Whether a running system holds what it promises. */
export const checkRun = own(row, async ({ api, values: { since, report: reports }, options }) => {
  const beganAt = new Date();
  let found: CheckReport | null = null;
  try {
    found = await checkSystem(api, since ?? rfc3339(new Date(beganAt.getTime() - WEEK_MS)));
  } finally {
    // Why it could not finish is more than that this could not be kept.
    if (reports && found === null) await keepOutcome(api, beganAt, null).catch(() => undefined);
  }
  printResult(found, options, reportView);
  if (reports) await keepOutcome(api, beganAt, found);
  const { length } = found.broken;
  if (length > 0)
    throw new Failure(
      'refused',
      `${length === 1 ? 'One rule does' : `${length} rules do`} not hold. See docs/operator-tasks.md, "Does everything hold?".`,
    );
});

const reportView = ({ since, looked_at: looked, broken }: CheckReport): View => [
  facts(
    {
      'payments created since': since,
      payments: looked.payments,
      events: looked.events,
      transfers: looked.transfers,
      merchants: looked.merchants,
    },
    'looked at',
  ),
  ...(broken.length === 0
    ? [text('(none)', 'broken')]
    : broken.map(({ rule, count, examples }) => text(examples.join('\n'), `${rule}: broken ${count} times`))),
];

/** Examples that are shown of what breaks a rule. */
const EXAMPLES = 10;

type BrokenRule = { rule: string; count: number; examples: string[] };

type CheckReport = {
  /** Payments created, and transfers in blocks, from then on. Counters are looked at whole. */
  since: string;
  looked_at: { payments: number; events: number; transfers: number; merchants: number };
  broken: BrokenRule[];
};

/** Collects what is found; it stays small, however much is. */
function createReport(since: string) {
  const looked: CheckReport['looked_at'] = { payments: 0, events: 0, transfers: 0, merchants: 0 };
  const broken = new Map<string, BrokenRule>();
  return {
    looked(what: keyof CheckReport['looked_at'], count: number): void {
      looked[what] += count;
    },
    found(violations: readonly Violation[]): void {
      for (const { rule, what } of violations) {
        const known = broken.get(rule) ?? { rule, count: 0, examples: [] };
        known.count += 1;
        if (known.examples.length < EXAMPLES) known.examples.push(what);
        broken.set(rule, known);
      }
    },
    result: (): CheckReport => ({ since, looked_at: looked, broken: [...broken.values()] }),
  };
}

type Report = ReturnType<typeof createReport>;

/**
 * Looks for what must never be, in each service's rows and between the services. It reads, a few hundred rows at a time, and changes
 * nothing.
 * @param since RFC 3339: payments created from then on.
 * @throws Failure as Api.call(): what was not looked at must not look well.
 */
async function checkSystem(api: Api, since: string): Promise<CheckReport> {
  const report = createReport(since);
  const asking: Asking = { api, since, report };
  await checkPayments(asking);
  await checkCounters(asking);
  await checkTransfers(asking);
  return report.result();
}

type Asking = { api: Api; since: string; report: Report };

/** Payments, their events, and the transfers that pay them. */
async function checkPayments({ api, since, report }: Asking): Promise<void> {
  let after: string | undefined;
  do {
    const page = await api.call(CheckPayments, { query: { since, after } });
    // A payment is listed once for each of the transfers that pay it.
    const states = new Map(page.payments.map(({ payment_id, state }) => [payment_id, state]));
    report.looked('payments', states.size);
    report.found(page.violations);
    const payments = [...states].map(([payment_id, state]) => ({ payment_id, state }));
    const events = await api.call(CheckEvents, { query: { read_at: page.read_at }, body: { payments } });
    report.looked('events', events.events);
    report.found(events.violations);
    // An accepted transfer was looked up on chain, so its wallet need not have been watched.
    const transfers = page.payments.flatMap(({ transfer }) => {
      if (transfer === null || transfer.accepted) return [];
      const { network, transaction_id, transaction_event_index } = transfer;
      return [{ network, transaction_id, transaction_event_index }];
    });
    for (let start = 0; start < transfers.length; start += CHECKED_AT_ONCE) {
      const body = { transfers: transfers.slice(start, start + CHECKED_AT_ONCE) };
      report.found((await api.call(CheckPayingTransfers, { body })).violations);
    }
    after = page.next ?? undefined;
  } while (after !== undefined);
}

/** Merchants' counters, and the history of usage that quota keeps from messages. */
async function checkCounters({ api, report }: Asking): Promise<void> {
  let after: string | undefined;
  do {
    const page = await api.call(CheckCounters, { query: { after } });
    report.looked('merchants', page.counted);
    report.found(page.violations);
    const { until, merchants } = page;
    report.found((await api.call(CheckUsage, { query: { until }, body: { merchants } })).violations);
    after = page.next ?? undefined;
  } while (after !== undefined);
}

/** The transfers that chain-watcher has reported, and whether payments knows them. */
async function checkTransfers({ api, since, report }: Asking): Promise<void> {
  for (const { network } of await api.call(ReadChains)) {
    let below: string | undefined;
    do {
      const page = await api.call(ListToldTransfers, { query: { network, since, below } });
      report.looked('transfers', page.transfers.length);
      report.found((await api.call(CheckLedger, { body: { transfers: page.transfers } })).violations);
      below = page.next ?? undefined;
    } while (below !== undefined);
  }
}

/**
 * Reports the outcome of a check to api-gateway, which shows it as metrics.
 * @param report null where the check could not look at everything.
 * @throws Failure as Api.call().
 */
async function keepOutcome(api: Api, beganAt: Date, report: CheckReport | null): Promise<void> {
  await api.call(ReportCheck, {
    body: {
      began_at: rfc3339(beganAt),
      ended_at: rfc3339(new Date()),
      whole: report !== null,
      violations: (report?.broken ?? []).map(({ rule, count }) => ({ rule, count })),
    },
  });
}
