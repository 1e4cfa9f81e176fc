import type { Call } from '@quittance/contracts/call.ts';
import { newId } from '@quittance/contracts/ids.ts';

/** The path with valid ids that do not exist. */
export const pathWithIds = ({ path }: Call): string =>
  path.replaceAll(/:(\w+)/g, (_text, name: string) => {
    if (name === 'merchant_id') return newId('mer');
    if (name === 'payment_id') return newId('pay');
    if (name === 'event_id') return newId('evt');
    return name === 'transaction_event_index' ? '0' : 'unknown';
  });
