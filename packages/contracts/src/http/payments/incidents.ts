import { incidentCalls, type Resolution } from '../incidents.ts';

/** The transfer that paid a payment is no longer on the chain. */
export type PaymentIncident = Resolution & {
  incident_id: string;
  kind: string;
  payment_id: string;
  merchant_id: string;
  network: string;
  transaction_id: string;
  transaction_event_index: number;
  block_hash: string;
  opened_at: string;
};

export const PaymentIncidents = incidentCalls<PaymentIncident>('payments');
