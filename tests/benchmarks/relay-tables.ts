import type { Aim, Table } from './benchmark.ts';
import type { RelayMeasurements, RelayStatements } from './relay.bench.ts';
import { renderSpread, shortened, significant } from './support/report.ts';
import { cpuUsPerUnit, measurementOf, ratioOf, spreadOf, type Measurement } from './support/rounds.ts';

const TO_RAW = 0.9;

const rateOf = ({ rate }: Measurement): number => rate;

export const relayAims = ({ rounds }: RelayMeasurements): Aim[] =>
  ['as written', 'backlog'].map((name) => ({
    what: `messages/s relayed, ${name}, to raw`,
    atLeast: TO_RAW,
    measured: ratioOf(rounds, rateOf, name, 'raw'),
  }));

export const relayNotes = [
  'raw: amqplib with 2,000 messages unconfirmed at most, the same bytes, properties and queue. No database, nothing is remembered.',
  'as written: eight transactions at a time, each of 100 messages, timed from the first until every message is confirmed and kept as sent.',
  'backlog: the messages lie in the outbox when a relay starts.',
  'All of them run in one process. µs is CPU time for one message.',
];

export const relayTables = ({ rounds, statements }: RelayMeasurements): Table[] => [
  {
    title: 'Messages that reach RabbitMQ and are confirmed',
    columns: ['', 'messages/s', 'to raw', 'process µs', 'postgres µs'],
    rows: Object.keys(rounds[0] ?? {}).map((name) => [
      name,
      significant(spreadOf(rounds.map((round) => rateOf(measurementOf(round, name)))).median),
      name === 'raw' ? '1' : renderSpread(ratioOf(rounds, rateOf, name, 'raw')),
      significant(cpuUsPerUnit(rounds, name, 'sender')),
      significant(cpuUsPerUnit(rounds, name, 'postgres')),
    ]),
  },
  ...statements.map(statementTable),
];

function statementTable({ title, messages, costs }: RelayStatements): Table {
  const most = costs.slice(0, 8);
  return {
    title: `SQL for one message, ${title}`,
    columns: ['', 'statements', 'execution µs', 'WAL bytes', 'pages'],
    rows: most.map(({ query, calls, execUs, walBytes, pages }) => [
      shortened(query),
      ...[calls, execUs, walBytes, pages].map((sum) => significant(sum / messages)),
    ]),
  };
}
