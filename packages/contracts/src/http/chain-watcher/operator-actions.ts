import { defineCall, json, object } from '../../call.ts';
import { query } from '../../query.ts';

/** A halted network that was resumed. */
export type Resumption = {
  resumption_id: string;
  network: string;
  accept_fork: boolean;
  halted_at: string;
  resumed_at: string;
  actor: string;
  reason: string;
};

/**
 * Resumes a halted network. It halts again if its nodes still contradict what is final. With `accept_fork` it follows
 * them once, even below what had been final. 404 for an unknown network; 409 for one that is not halted.
 */
export const ResumeChain = defineCall('chain-watcher', 'POST /chains/:network/resume', json<Resumption>(), {
  authored: true,
  access: 'admin',
  body: object<{ accept_fork?: boolean }>({ accept_fork: { type: 'boolean' } }, { optional: ['accept_fork'] }),
});

/** An operator's action on a network. Jumps include those that the service itself decided on. */
export type OperatorAction = {
  at: string;
  network: string;
  action: 'resume' | 'accept_fork' | 'rescan' | 'jump' | 'resolve_incident';
  actor: string;
  reason: string;
  /** What it was about, and its result. */
  detail: Record<string, unknown>;
};

/** The newest hundred, of one network or of all. */
export const ListOperatorActions = defineCall(
  'chain-watcher',
  'GET /operator-actions',
  json<{ actions: OperatorAction[] }>(),
  { access: 'viewer', query: { network: query.text, before: query.timestamp } },
);
