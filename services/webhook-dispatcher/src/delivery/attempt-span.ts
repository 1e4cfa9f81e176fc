import { goingOnFrom, type Span, type SpanOrigin, tracer } from '@quittance/runtime/tracing/tracing.ts';
import type { AttemptResult } from '../sending/sender.ts';
import type { Claimed } from '../store/claim.ts';
import type { EventTrace } from '../store/event-trace.ts';

/**
 * The span of one POST to a merchant. The merchant is not told of it: what a webhook's headers are is part of its contract, and our
 * traces are nobody's business outside. The host helps to find a fault; the whole URL may hold a secret of the merchant's.
 * @returns undefined unless the event's trace is exported.
 */
export function startAttempt(delivery: Claimed): Span | undefined {
  const { trace } = delivery;
  if (trace === undefined) return undefined;
  return tracer()?.start('POST webhook', 'client', {
    origin: originOf(delivery, trace),
    attributes: {
      'http.request.method': 'POST',
      'http.request.resend_count': delivery.attempts,
      'server.address': delivery.host,
      'quittance.event_id': delivery.event_id,
      'quittance.webhook_cycle': delivery.cycle,
    },
  });
}

/** A retry that somebody asked for is a story of its own, and so is one that comes hours later. */
function originOf({ cycle }: Claimed, { traceparent, since }: EventTrace): SpanOrigin {
  return cycle > 1 ? { parent: null, links: [traceparent] } : goingOnFrom(traceparent, since);
}

export function endAttempt(span: Span | undefined, { httpStatus, errorCategory }: AttemptResult): void {
  if (span === undefined) return;
  if (httpStatus !== null) span.set({ 'http.response.status_code': httpStatus });
  if (errorCategory !== null) span.fail(errorCategory);
  span.end();
}
