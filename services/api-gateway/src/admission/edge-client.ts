import type { RouteRequest } from '@quittance/http/server/route.ts';

/**
 * The address of whoever sent a public request. The edge says it in X-Forwarded-For, in place of whatever the client said; requests that come
 * past the edge come from the machine or the cluster itself.
 */
export const edgeClient = ({ headers, remoteAddress }: Pick<RouteRequest, 'headers' | 'remoteAddress'>): string =>
  [headers['x-forwarded-for'] ?? []].flat().at(-1)?.split(',').at(-1)?.trim() || remoteAddress;
