import { formatUnits } from '@quittance/contracts/amount.ts';
import type { LedgerEntry, OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import type { Queries, Transfer } from '../queries/payments.ts';
import { paymentWindow } from '../settlement/payment-window.ts';
import { toPayment } from './payment-json.ts';

/** All there is of a payment, whichever merchant's it is: its transfers, matched or not, and its incidents. */
export async function readOperatorPayment(
  queries: Queries,
  paymentId: string,
  publicBaseUrl: string,
): Promise<Omit<OperatorsPayment, 'acceptance'> | null> {
  const payment = await queries.find(paymentId);
  if (payment === null) return null;
  const unmatched = await queries.listUnmatched(payment, paymentWindow(payment));
  return {
    ...toPayment(payment, payment.transfer, publicBaseUrl),
    merchant_id: payment.merchant_id,
    transfers: [...(payment.transfer === null ? [] : [payment.transfer]), ...unmatched].map(toLedgerEntry),
    incidents: payment.incidents.map(withTextTimes),
  };
}

/** The whole row in JSON's types, and the amount also for people. */
function toLedgerEntry(transfer: Transfer): LedgerEntry {
  const entry = {
    ...transfer,
    version: Number(transfer.version),
    block_number: Number(transfer.block_number),
    block_timestamp: rfc3339(transfer.block_timestamp),
    amount_units: transfer.amount_units.toFixed(),
    amount: formatUnits(BigInt(transfer.amount_units.toFixed()), transfer.decimals),
    reason: transfer.reason as LedgerEntry['reason'],
  };
  return entry;
}
