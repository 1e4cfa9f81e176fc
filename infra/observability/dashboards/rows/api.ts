import type { RowSpec } from '../panels.ts';
import { increase, max, quantile, rate } from '../queries.ts';

const own = 'service="api-gateway", route!~"/livez|/readyz|/metrics"';
const inside = 'service!="api-gateway", route!~"/livez|/readyz|/metrics"';

export const api: readonly RowSpec[] = [
  {
    title: 'The gateway: what merchants and customers ask',
    panels: [
      {
        title: 'Requests, by route',
        unit: 'reqps',
        queries: [[rate(`http_request_duration_seconds_count{${own}}`, 'method, route'), '{{method}} {{route}}']],
      },
      {
        title: 'Answered 5xx, by route',
        unit: 'reqps',
        queries: [
          [rate(`http_request_duration_seconds_count{${own}, status=~"5.."}`, 'method, route'), '{{method}} {{route}}'],
        ],
      },
      {
        title: 'Refused (4xx), by status',
        unit: 'reqps',
        queries: [[rate(`http_request_duration_seconds_count{${own}, status=~"4.."}`, 'status'), '{{status}}']],
        description: '499: the client left before it had its answer.',
      },
      {
        title: 'Latency p99, by route',
        unit: 's',
        queries: [[quantile(0.99, `http_request_duration_seconds{${own}}`, 'method, route'), '{{method}} {{route}}']],
      },
      {
        title: 'Requests being answered',
        unit: 'short',
        queries: [['sum by (service) (http_requests_in_flight)', '{{service}}']],
      },
      {
        title: 'Over a rate limit',
        unit: 'short',
        queries: [[increase('rate_limit_refusals_total', 'limit'), '{{limit}}']],
      },
    ],
  },
  {
    title: 'Creations',
    panels: [
      {
        title: 'Refused by policy or conflict',
        unit: 'short',
        queries: [
          [increase('payment_creations_total{outcome!~"created|replayed|undecided"}', 'outcome'), '{{outcome}}'],
        ],
      },
      {
        title: 'Undecided',
        unit: 'short',
        queries: [[increase('payment_creations_total{outcome="undecided"}', 'service'), 'answered 503']],
      },
      {
        title: 'Time to decide',
        unit: 's',
        queries: [
          [
            quantile(
              0.5,
              'http_request_duration_seconds{service="payments", route="/internal/v1/merchants/:merchant_id/payments", method="POST"}',
              '',
            ),
            'half',
          ],
          [
            quantile(
              0.99,
              'http_request_duration_seconds{service="payments", route="/internal/v1/merchants/:merchant_id/payments", method="POST"}',
              '',
            ),
            '99 of 100',
          ],
        ],
      },
    ],
  },
  {
    title: 'Prices in other currencies',
    panels: [
      {
        title: 'Age of each exchange and the bank',
        unit: 's',
        queries: [[max('rate_source_age_seconds', 'source'), '{{source}}']],
        description:
          'Prices need an exchange that is at most RATE_MAX_AGE_SECONDS old, and another one. The bank publishes on business days.',
      },
      {
        title: 'Currencies without a rate',
        unit: 'short',
        queries: [[max('rates_unavailable', 'reason'), '{{reason}}']],
        description: '0 while every currency has a rate, and where prices are off.',
      },
      {
        title: 'Reads of the sources',
        unit: 'short',
        queries: [[increase('rate_reads_total', 'source, outcome'), '{{source}} {{outcome}}']],
      },
    ],
  },
  {
    title: 'Calls between services',
    panels: [
      {
        title: 'Answered, by service',
        unit: 'reqps',
        queries: [
          [rate(`http_request_duration_seconds_count{${inside}}`, 'service, status'), '{{service}} {{status}}'],
        ],
      },
      {
        title: 'Calls that failed',
        unit: 'reqps',
        queries: [
          [
            rate('http_client_request_duration_seconds_count{status=~"5..|error"}', 'service, client'),
            '{{service}} → {{client}}',
          ],
        ],
      },
      {
        title: 'Breaker open',
        unit: 'short',
        queries: [[max('http_client_breaker_open', 'service, client'), '{{service}} → {{client}}']],
        description: '1 while calls are refused at once, because most of them failed.',
      },
      {
        title: 'Latency of calls, p99',
        unit: 's',
        queries: [
          [quantile(0.99, 'http_client_request_duration_seconds', 'service, client'), '{{service}} → {{client}}'],
        ],
      },
    ],
  },
];
