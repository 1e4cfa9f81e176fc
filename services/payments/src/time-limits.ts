/**
 * What a merchant asks for and took longer than this is undone. The gateway answers 503 after 1.5 s, which
 * should mean that nothing was changed; what is left of that time is for the way there and back, and for the commit.
 */
export const DEADLINE_MS = 1_200;

/** How long one lock is waited for, such as that of the merchant's other creations. Leaves time for the rest. */
export const LOCK_TIMEOUT_MS = 1_000;

/**
 * How long chain-watcher may look at the chain for an operator. Longer than it takes to give up on its nodes, and short enough for
 * the operator's command, which waits 10 s, to hear of it.
 */
export const VERIFY_TIMEOUT_MS = 7_000;

/** How long chain-watcher may take to say how far it has scanned. Nobody waits that long; what comes late is for those who ask next. */
export const TIPS_TIMEOUT_MS = 1_000;
