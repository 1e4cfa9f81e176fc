import { defineCall, json } from '../call.ts';
import { serviceNames, type ServiceName } from '../service-name.ts';

/**
 * What a service accepts only while INTERNAL_TOKEN is set: a call that shows this token and no call token that is right, the token of an
 * operator that api-gateway's key has not signed, a message that its publisher has not signed.
 */
export const legacyKinds = ['shared_token', 'operator_token', 'unsigned_message'] as const;
export type LegacyKind = (typeof legacyKinds)[number];

/** `process_without_key`: a process of this service had no key of its own. */
export type LegacyUse = { kind: LegacyKind | 'process_without_key'; last_at: string; seconds_ago: number };

/** Whether a service could do without INTERNAL_TOKEN. The first two are about the process that answers, the others about all of them. */
export type TrustState = {
  has_key: boolean;
  accepts_internal_token: boolean;
  /** For how long this is watched; null in a process that accepts no internal token, and has nothing to watch. */
  watched_seconds: number | null;
  /** When each was last seen; none that never was. */
  legacy: LegacyUse[];
};

const readTrust = (owner: ServiceName) => defineCall(owner, 'GET /trust', json<TrustState>(), { access: 'support' });

/** Of every service. */
export const ReadTrust = Object.fromEntries(serviceNames.map((name) => [name, readTrust(name)])) as Record<
  ServiceName,
  ReturnType<typeof readTrust>
>;
