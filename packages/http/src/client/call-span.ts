import { tracer } from '@quittance/runtime/tracing/tracing.ts';

/** A call to another service, as a span. It ends with what came of it. */
export type CallSpan = {
  /** The parent of the spans of the other service. */
  traceparent: string;
  answered(status: number): void;
  failed(error: unknown): void;
};

/**
 * One span for the call with its retry. It names the service and not the URL, whose path holds ids; the other side's span has the route.
 * @returns undefined when nothing is traced.
 */
export function startCall(service: string, method: string, url: URL): CallSpan | undefined {
  const span = tracer()?.start(`${method} ${service}`, 'client', {
    attributes: {
      'http.request.method': method,
      'server.address': url.hostname,
      'server.port': Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
      'service.peer.name': service,
    },
  });
  if (span === undefined) return undefined;
  return {
    traceparent: span.traceparent,
    answered(status) {
      span.set({ 'http.response.status_code': status });
      if (status >= 400) span.fail(String(status));
      span.end();
    },
    failed(error) {
      span.fail(codeOf(error));
      span.end();
    },
  };
}

/** One of few words: the system's code, or the error's class. */
function codeOf(error: unknown): string {
  if (!Error.isError(error)) return 'error';
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : error.name;
}
