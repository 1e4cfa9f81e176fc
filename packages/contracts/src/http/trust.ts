import { defineCall, json } from '../call.ts';
import { serviceNames, type ServiceName } from '../service-name.ts';

/**
 * What a service accepts only while INTERNAL_TOKEN is set: a call with this token and without a valid call token; an
 * operator's token that isn't signed by api-gateway's key; a message that its publisher didn't sign.
 */
export const legacyKinds = ['shared_token', 'operator_token', 'unsigned_message'] as const;
export type LegacyKind = (typeof legacyKinds)[number];

/** `process_without_key`: a process of this service had no key. */
export type LegacyUse = { kind: LegacyKind | 'process_without_key'; last_at: string; seconds_ago: number };

/**
 * Whether a service could work without INTERNAL_TOKEN. The first two fields are about the process that answers, the
 * others about all processes.
 */
export type TrustState = {
  has_key: boolean;
  accepts_internal_token: boolean;
  /** How long this has been recorded; null in a process that accepts no internal token. */
  watched_seconds: number | null;
  /** When each was last seen; kinds that were never seen are left out. */
  legacy: LegacyUse[];
};

const readTrust = (owner: ServiceName) => defineCall(owner, 'GET /trust', json<TrustState>(), { access: 'support' });

/** The call of each service. */
export const ReadTrust = Object.fromEntries(serviceNames.map((name) => [name, readTrust(name)])) as Record<
  ServiceName,
  ReturnType<typeof readTrust>
>;
