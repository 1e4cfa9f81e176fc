import { AccessChanged } from '@quittance/contracts/messages/access-changed.ts';
import { type Handler, on } from '@quittance/messaging/consumer/handler.ts';
import { applyPolicy } from '../store/gate.ts';

/** Keeps the newest policy at the gate. It waits for a creation under way and is in force for every later one. */
export const accessChanged = (): Handler =>
  on(AccessChanged, 'access-changed', (policy, { tx }) => applyPolicy(tx, policy));
