import type { NoticeChannel } from '@quittance/contracts/http/notifier.ts';

/** What a channel sends. `id` is the same in every attempt. */
export type Message = { id: string; subject: string; text: string };

/** Where one merchant's notices go; null or empty for a channel that it does not use. */
export type Destinations = { email: readonly string[]; telegram: string | null; slack: string | null };

/**
 * `problem` is null for a message that was sent; otherwise it is for the merchant to read, and has no secret and no
 * address. With `isFinal`, another attempt would fail too. `retryAfterSeconds` is the server's wish.
 */
export type Outcome = { problem: null } | { problem: string; isFinal: boolean; retryAfterSeconds?: number | undefined };

/** Sends one message in one attempt, of at most ten seconds. Never throws. */
export type Send = (to: Destinations, message: Message) => Promise<Outcome>;

/** By channel; null for one that the operator has not set up. */
export type Senders = Readonly<Record<NoticeChannel, Send | null>>;

export const SEND_TIMEOUT_MS = 10_000;

export const sent: Outcome = { problem: null };
export const mayWorkLater = (problem: string, retryAfterSeconds?: number): Outcome => ({
  ...{ problem, isFinal: false },
  retryAfterSeconds,
});
export const neverWorks = (problem: string): Outcome => ({ problem, isFinal: true });
