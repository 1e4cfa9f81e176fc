import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { type AcceptanceCall, accepting } from './accepting.ts';
import { observingTransfers } from './calls.ts';
import { operation, type Operation, received } from './operation.ts';
import type { Call, Chain } from './plan.ts';
import { fromEnd, paymentAt, type Run } from './run.ts';
import { transferKey } from './state.ts';
import { unavailable } from './steps.ts';
import { movedTransfer, newTransfer, nextNews } from './transfers.ts';

/* Calls about transfers, with all their parts named. */

/** @returns the message, or null when there is none, or when it is lost. */
export function publishedBy(run: Run, part: Chain): TransferObserved | null {
  switch (part.do) {
    case 'deliver':
      return fromEnd(run.transfers, part.place) ?? null;
    case 'moved':
      return movedTransfer(run, part);
    case 'transfer': {
      const message = newTransfer(run, part);
      return part.silent ? null : message;
    }
    case 'next': {
      const message = nextNews(run, part);
      return part.silent ? null : message;
    }
  }
}

/** All messages of a batch are recorded before any of them is decided. */
export function announcement(kind: Call['do'], ...published: readonly (TransferObserved | null)[]): Operation | null {
  const messages = published.filter((message) => message !== null);
  if (messages.length === 0) return null;
  return {
    ...operation(kind, `receive ${messages.map((message) => JSON.stringify(message)).join(' and ')}`),
    perform: async (replica) => received(await replica.receiveTransfers(messages), observingTransfers(messages)),
  };
}

export function acceptance(run: Run, { place, transfer: at, by, confirm }: Call & { do: 'accept' }): Operation | null {
  const payment = paymentAt(run, place);
  if (payment === undefined) return null;
  const all = [...run.otherServices.chain.values()].map((versions) => versions.at(-1)!);
  const here = all.filter(({ network, to }) => network === payment.network && to === payment.wallet);
  const message = fromEnd(here.length === 0 ? all : here, at);
  if (message === undefined) return null;
  const { transaction_id: id, transaction_event_index: index } = message;
  // The call names no network: it is the payment's.
  const transfer = { network: payment.network, id, index };
  const shown = Math.max(1, run.model.ledger.get(transferKey(transfer))?.among.length ?? 1);
  const call: AcceptanceCall = {
    payment: payment.id,
    merchant: {
      owner: payment.merchant,
      another: run.merchants.find((other) => other !== payment.merchant)!,
      operator: null,
    }[by],
    transfer,
    confirmed: { right: shown, wrong: shown + 1, missing: null }[confirm],
  };
  return {
    ...operation('accept', `accept ${JSON.stringify(call)}`),
    perform: async (replica) => {
      const { status, text } = await replica.accept(call);
      const withBody = status === 200 && call.merchant !== null;
      const program = accepting({ call, settings: run.settings, otherServices: run.otherServices });
      const answer =
        status === 503 ? unavailable : withBody ? { status, body: JSON.parse(text) as unknown } : { status };
      return { answer, program, gaveUp: status === 503 };
    },
  };
}
