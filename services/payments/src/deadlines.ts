/** How long a merchant's request waits for one lock, such as that of the merchant's other creations. Leaves time for the rest. */
export const LOCK_TIMEOUT_MS = 1_000;

/**
 * How long chain-watcher may ask nodes for an operator. Longer than it takes to give up on its nodes, and short enough for the operator's
 * command, which waits 10 s, to report the failure.
 */
export const VERIFY_TIMEOUT_MS = 7_000;

/** How long chain-watcher may look for a transaction. A caller with a shorter deadline gets its answer within that deadline. */
export const LOOK_UP_TIMEOUT_MS = 5_000;

/** How long chain-watcher may take to answer its tips. No request waits that long; a late answer serves later requests. */
export const TIPS_TIMEOUT_MS = 1_000;
