import type { Logger } from '@quittance/runtime/logger.ts';
import type { Endpoint } from './endpoint.ts';
import { lagBlocks, lags, type Head } from './heads.ts';

/**
 * Asks endpoints for their head that have not named it lately, because others are preferred to them: so it shows when the preferred
 * one is stuck at an old head, and when one that was set aside has come back. A network with one endpoint has nothing to compare.
 */
export function startProbing({
  network,
  endpoints,
  best,
  intervalMs,
  logger,
}: {
  network: { id: string };
  endpoints: readonly Endpoint[];
  best: () => Head | null;
  intervalMs: number;
  logger: Logger;
}): { close(): void } {
  const isProbed = new Set<Endpoint>();
  const lagging = new Set<Endpoint>();

  async function probe(endpoint: Endpoint): Promise<void> {
    // One that answers slowly is not asked again meanwhile.
    if (isProbed.has(endpoint) || endpoint.silentMs() < intervalMs / 2) return;
    isProbed.add(endpoint);
    await endpoint.probe();
    isProbed.delete(endpoint);
  }

  function tell(endpoint: Endpoint): void {
    const head = best();
    const isLate = lags(endpoint.head(), head);
    if (isLate === lagging.has(endpoint)) return;
    const fields = { network: network.id, endpoint: endpoint.position, lag_blocks: lagBlocks(endpoint.head(), head) };
    if (isLate) logger.warn(fields, 'endpoint lags behind the others');
    else logger.info(fields, 'endpoint has caught up');
    if (isLate) lagging.add(endpoint);
    else lagging.delete(endpoint);
  }

  if (endpoints.length < 2) return { close: () => undefined };
  const timer = setInterval(() => {
    for (const endpoint of endpoints) void probe(endpoint).then(() => tell(endpoint));
  }, intervalMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
