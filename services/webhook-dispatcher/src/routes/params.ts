import type { RouteRequest } from '@quittance/http/route.ts';

/** Path parameters are always there when the path has matched. An id that nobody has simply finds nothing. */
export const merchantIdOf = ({ params }: RouteRequest): string => params['merchant_id'] ?? '';

export const paymentIdOf = ({ params }: RouteRequest): string => params['payment_id'] ?? '';

export const eventIdOf = ({ params }: RouteRequest): string => params['event_id'] ?? '';
