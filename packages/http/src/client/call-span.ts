import { tracer } from '@quittance/runtime/tracing/tracing.ts';

/** The span of a call to another service. It ends with the call's result. */
export type CallSpan = {
  /** The parent of the other service's spans. */
  traceparent: string;
  answered(status: number): void;
  failed(error: unknown): void;
};

/**
 * Starts one span for the call and its retry. It names the service and not the URL, whose path contains ids. The other
 * service's span has the route.
 * @returns undefined when tracing is off.
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

/** One of few values: the system's error code, or the error's class. */
function codeOf(error: unknown): string {
  if (!Error.isError(error)) return 'error';
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : error.name;
}
