import { pathParameter, type RouteRequest } from '@quittance/http/server/route.ts';

/** An id that nobody has simply finds nothing, so none is checked here. */
export const merchantIdOf = ({ params }: RouteRequest): string => pathParameter(params, 'merchant_id');

export const paymentIdOf = ({ params }: RouteRequest): string => pathParameter(params, 'payment_id');

export const eventIdOf = ({ params }: RouteRequest): string => pathParameter(params, 'event_id');
