import { ReadTrust, type LegacyKind, type LegacyUse } from '@quittance/contracts/http/trust.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import type { Trust } from '@quittance/runtime/trust.ts';

import { callRoute } from './call-route.ts';
import type { Route } from './route.ts';

/** Records what a service accepts only because INTERNAL_TOKEN is set. */
export type LegacyRecord = {
  accepted(kind: LegacyKind): void;
  read(): Promise<{ watchedSeconds: number | null; legacy: LegacyUse[] }>;
};

/** Says whether INTERNAL_TOKEN is still needed, for `ops trust check`. Every service has this route. */
export const trustRoute = (service: ServiceName, trust: Trust, record: LegacyRecord): Route =>
  callRoute(ReadTrust[service], async () => {
    const { watchedSeconds, legacy } = await record.read();
    const acceptsToken = trust.sharedTokens.length > 0;
    return {
      has_key: trust.signer !== null,
      accepts_internal_token: acceptsToken,
      watched_seconds: acceptsToken ? watchedSeconds : null,
      legacy,
    };
  });
