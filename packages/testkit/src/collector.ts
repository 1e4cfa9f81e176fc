import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.ts';

/**
 * A span as the collector received it. Ids are lowercase hex; `parentSpanId` is empty for the first span of a trace.
 */
export type CollectedSpan = {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  links: { traceId: string; spanId: string }[];
  attributes: Record<string, unknown>;
};

export type Collector = {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  spans(): CollectedSpan[];
  /** The headers and the body of each request. */
  requests: { headers: IncomingHttpHeaders; body: string }[];
  /** From now on, accepts requests, refuses them, or never answers. */
  become(behaviour: Behaviour): void;
  /** Waits until `find` finds something in what was collected. */
  find<T>(find: (spans: CollectedSpan[]) => T | undefined): Promise<T>;
  close(): Promise<void>;
};

type Behaviour = 'taking' | 'refusing' | 'hanging';

/** An OpenTelemetry collector for tests: receives OTLP over HTTP as JSON on a free port of this machine. */
export async function startCollector(): Promise<Collector> {
  const requests: Collector['requests'] = [];
  const collected: CollectedSpan[] = [];
  let behaviour: Behaviour = 'taking';

  function answer(body: string, response: ServerResponse): void {
    if (behaviour === 'hanging') return;
    if (behaviour === 'taking') collected.push(...readSpans(body));
    response.writeHead(behaviour === 'taking' ? 200 : 503, { 'content-type': 'application/json' }).end('{}');
  }

  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      requests.push({ headers: request.headers, body });
      if (request.method === 'POST' && request.url === '/v1/traces') answer(body, response);
      else response.writeHead(404).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => [...collected],
    requests,
    become: (next) => void (behaviour = next),
    find: (find) =>
      eventually(() => {
        const found = find(collected);
        if (found !== undefined) return found;
        const seen = collected.map(({ service, name }) => `${service}: ${name}`);
        throw new Error(`not among what was collected: ${[...new Set(seen)].join(', ')}`);
      }),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type Attribute = { key: string; value: Record<string, unknown> };
type WireSpan = Pick<CollectedSpan, 'name' | 'traceId' | 'spanId'> &
  Partial<Pick<CollectedSpan, 'parentSpanId' | 'links'>> & { attributes: Attribute[] };
type Wire = {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: WireSpan[] }[];
  }[];
};

function readSpans(body: string): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body) as Wire;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(toRecord(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId, links, attributes }) => ({
        service,
        name,
        traceId,
        spanId,
        parentSpanId: parentSpanId ?? '',
        links: links ?? [],
        attributes: toRecord(attributes),
      })),
    );
  });
}

const toRecord = (attributes: Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
