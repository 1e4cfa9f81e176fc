import { once } from 'node:events';
import {
  AcceptTransfer,
  ReadAcceptanceCandidate,
  type Acceptance,
  type AcceptanceCandidate,
  type AcceptedTransfer,
} from '@quittance/contracts/http/payments/acceptance.ts';
import type { Author } from '@quittance/contracts/author.ts';
import { ExportPayments } from '@quittance/contracts/http/payments/finding.ts';
import { merchantId } from '@quittance/operator/field.ts';
import { listPayments } from '@quittance/operator/payments.ts';
import * as rows from '@quittance/operator/transfers.ts';
import type { Api } from './api.ts';
import { Failure } from './failure.ts';
import { confirm, type Terminal } from './person.ts';
import { own, sent, show, type Run } from './run.ts';
import { printResult } from './text.ts';

export const paymentRuns: readonly Run[] = [
  own(listPayments, async (asked) => {
    const { api, values, options } = asked;
    if (!values.csv) {
      show(await sent(listPayments, asked), asked);
      return;
    }
    if (options.json) throw new Failure('wrongUse', 'Either --csv or --json: --json has a page of fifty.');
    const { merchants, status, created_from, created_to } = values;
    if (merchants === undefined) throw new Failure('wrongUse', '--csv needs --merchant: an export has one merchant.');
    const params = { merchant_id: merchantId(merchants) };
    await printStream(await api.stream(ExportPayments, { params, query: { status, created_from, created_to } }));
  }),
  own(rows.acceptTransfer, async ({ api, values, options, author }) => {
    const { payment_id: paymentId, confirm_candidates: confirmed, ...place } = values;
    const transfer = { ...place, ...(confirmed !== undefined && { confirm_candidates: confirmed }) };
    const accepted = await acceptTransfer(api, { paymentId, transfer, author: author() }, options);
    printResult(accepted, options, rows.acceptanceView);
  }),
];

/** @throws Failure when the stream breaks: what was printed looks whole and is not. */
async function printStream(body: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const chunk of body) {
      // A reader of only the beginning has what it wanted.
      if (process.stdout.destroyed) return;
      if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return;
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure('unreachable', `payments broke the export off (${why}): what was printed is not all of it.`);
  }
}

type Accepted = { paymentId: string; transfer: AcceptedTransfer; author: Author };

/**
 * Accepts a transfer, once a person has seen the amounts and all payments that it may be for. With --yes or --json nobody sees them, so that
 * of several the number must be in `transfer`.
 */
export async function acceptTransfer(
  api: Api,
  { paymentId, transfer, author }: Accepted,
  options: { yes?: boolean; json?: boolean },
  terminal: Terminal = process,
): Promise<Acceptance> {
  const { transaction_id, transaction_event_index: index } = transfer;
  const params = { payment_id: paymentId, transaction_id, transaction_event_index: String(index) };
  const read = () => api.call(ReadAcceptanceCandidate, { params });
  const send = (seen?: AcceptanceCandidate) =>
    api.call(AcceptTransfer, { params: { payment_id: paymentId }, body: { ...confirmed(seen), ...transfer }, author });

  const seen: AcceptanceCandidate[] = [];
  const ask = async () => {
    const candidate = await read();
    seen.push(candidate);
    return rows.acceptQuestion(candidate);
  };
  await confirm(ask, options, terminal);
  const [shown] = seen;
  try {
    return await send(shown);
  } catch (error) {
    if (shown === undefined || !(error instanceof Failure) || error.kind !== 'refused') throw error;
    // The transfer is in the ledger now, and may be for payments that the person has not seen.
    const now = await read();
    if (now.candidates.join() === shown.candidates.join()) throw error;
    await confirm(rows.acceptQuestion(now), options, terminal);
    return send(now);
  }
}

const confirmed = (seen?: AcceptanceCandidate): { confirm_candidates?: number } =>
  seen !== undefined && seen.candidates.length > 1 ? { confirm_candidates: seen.candidates.length } : {};
