import { randomUUID } from 'node:crypto';
import { withRequestId } from '../logger.ts';
import { inSpan, type Span, withLinks } from './tracing.ts';

/**
 * For one caller, runs `fn` with its request id and in its span. For several, runs `fn` with a new request id, so that
 * no log line is attributed to one of them, and with links to all their traces.
 */
export function onBehalfOf<T>(
  callers: readonly { requestId: string | undefined; span?: Span | undefined }[],
  fn: () => T,
): T {
  const [first, ...others] = callers;
  if (first?.span !== undefined && others.length === 0)
    return withRequestId(first.requestId ?? randomUUID(), () => inSpan(first.span, fn));
  const requestId = others.length === 0 ? first?.requestId : undefined;
  const traceparents = callers.map(({ span }) => span?.traceparent);
  return withRequestId(requestId ?? randomUUID(), () => withLinks(traceparents, fn));
}
