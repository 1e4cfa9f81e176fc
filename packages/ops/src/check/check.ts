import { CheckPayingTransfers, ListToldTransfers } from '@quittance/contracts/http/chain-watcher/check.ts';
import { ReadChains } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { CheckCounters, CheckLedger, CheckPayments } from '@quittance/contracts/http/payments/check.ts';
import { CheckUsage } from '@quittance/contracts/http/quota/check.ts';
import { CheckEvents } from '@quittance/contracts/http/webhook-dispatcher/check.ts';
import type { Api } from '../api.ts';
import { createReport, type CheckReport } from './report.ts';

type Report = ReturnType<typeof createReport>;

/**
 * Looks for what must never be, in each service's rows and between the services. It reads, a few hundred rows at a time, and changes
 * nothing.
 * @param since RFC 3339: payments created from then on.
 * @throws Failure as Api.call(): what was not looked at must not look well.
 */
export async function checkSystem(api: Api, since: string): Promise<CheckReport> {
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
    report.looked('payments', page.payments.length);
    report.found(page.violations);
    const payments = page.payments.map(({ payment_id, state }) => ({ payment_id, state }));
    const events = await api.call(CheckEvents, { query: { read_at: page.read_at }, body: { payments } });
    report.looked('events', events.events);
    report.found(events.violations);
    // A transfer that somebody accepted need not have been watched: it was looked up on chain.
    const transfers = page.payments.flatMap(({ transfer }) => {
      if (transfer === null || transfer.accepted) return [];
      const { network, transaction_id, transaction_event_index } = transfer;
      return [{ network, transaction_id, transaction_event_index }];
    });
    report.found((await api.call(CheckPayingTransfers, { body: { transfers } })).violations);
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

/** What chain-watcher has told of transfers, and whether payments knows it. */
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
