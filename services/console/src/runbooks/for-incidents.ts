import type { ChainStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import type { Place } from './runbooks.ts';

const chains = (heading: string): Place => ({ page: 'chain-watcher', heading });

/** Which section says what to do. */
const ofKinds: Record<string, Place> = {
  paid_transfer_gone: { page: 'payments', heading: 'PaymentIncident' },
  fork_below_finalized: chains('ChainHalted'),
  transfer_missed: chains('ChainTransferMissed'),
};

/** @param kind of an incident; most are dealt with in one section. */
export const placeForIncident = (kind: string): Place => ofKinds[kind] ?? chains('ChainIncident');

/** Longer than this behind its head, a network is not followed as it should be. */
const BEHIND_SECONDS = 120;

/** How a network is doing, and the section for that, where something is to be done. */
export function stateOf(chain: ChainStatus): { state: string; place: Place | null } {
  if (chain.halted_at !== null) return { state: 'halted', place: chains('ChainHalted') };
  if (chain.asleep) return { state: 'asleep', place: null };
  if ((chain.lag_seconds ?? 0) > BEHIND_SECONDS) return { state: 'behind', place: chains('ChainScanBehind') };
  return { state: 'following', place: chain.scan_error ? chains('ChainScanStandsStill') : null };
}
