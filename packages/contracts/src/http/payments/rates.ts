import { defineCall, json } from '../../call.ts';
import type { RatesInForce } from '../../rates.ts';

/** The rates by which a creation with a price would be converted now, and why other currencies have none. */
export const ReadRates = defineCall('payments', 'GET /rates', json<RatesInForce>(), {
  callers: ['api-gateway'],
  access: 'viewer',
});
