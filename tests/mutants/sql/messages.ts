import type { SqlMutants } from './mutant.ts';

const test = (name: string): string => `packages/messaging/test/${name}.int.test.ts`;

/** Outbox, inbox, replay. */
export const messages: SqlMutants[] = [
  {
    file: 'packages/messaging/src/outbox/store.ts',
    tests: test('outbox'),
    mutants: [
      {
        breaks: 'rows that another relay has leased are claimed',
        before: 'where name = $1 and claimed_until < now()',
        after: 'where name = $1',
        noticedBy: 'a row whose lease runs is left to its relay',
      },
      {
        breaks: 'a message id that already waits fails the transaction',
        before: 'on conflict (message_id) do nothing',
        after: '',
        noticedBy: 'of many messages sent together one whose id waits already is left out',
      },
      {
        breaks: 'messages of one statement have the same time',
        before: `time + position * interval '1 microsecond' as written_at`,
        after: 'time as written_at',
        noticedBy: 'many messages sent together are published in their order',
      },
      {
        breaks: 'a refused message is published again without growing pauses',
        before: '$3 * 2 ^ least(refusals, 20)',
        after: '$3 * 2 ^ 0',
        tests: test('neighbours'),
        noticedBy: 'messages that a queue refuses wait alone, with growing pauses',
      },
      {
        breaks: 'a relay ends the lease of another relay',
        before: `not_before = now() + make_interval(secs => least($4, $3 * 2 ^ least(refusals, 20)) * (0.5 + random() / 2))
     where message_id = any($1::uuid[]) and claimed_by = $2`,
        after: `not_before = now() + make_interval(secs => least($4, $3 * 2 ^ least(refusals, 20)) * (0.5 + random() / 2))
     where message_id = any($1::uuid[]) and $2 <> ''`,
        noticedBy: 'a row that RabbitMQ refused to a relay, and another one has claimed since, keeps its lease',
      },
    ],
  },
  {
    file: 'packages/messaging/src/outbox/store.ts',
    tests: test('sent-messages'),
    mutants: [
      {
        breaks: 'messages that were sent are not kept for a replay',
        before: 'request_id, created_at from sent`',
        after: 'request_id, created_at from sent where false`',
        noticedBy: 'messages that RabbitMQ lost with all its data are replayed',
      },
    ],
  },
  {
    file: 'packages/messaging/sql/replay_messages.sql',
    tests: test('sent-messages'),
    mutants: [
      {
        breaks: 'a replay covers messages from before its time',
        before: 'where created_at >= since',
        after: 'where since is not null',
        noticedBy: 'a replay covers only messages written since the given time',
      },
      {
        breaks: 'a replayed message has another id',
        before: 'select message_id, name, version, merchant_id, body, request_id, created_at from again',
        after: 'select gen_random_uuid(), name, version, merchant_id, body, request_id, created_at from again',
        noticedBy: 'those already consumed do not',
      },
    ],
  },
  {
    file: 'packages/messaging/src/consumer/inbox.ts',
    tests: test('consumer'),
    mutants: [
      {
        breaks: 'a message takes effect each time it is delivered',
        before: 'on conflict (handler, message_id) do nothing',
        after: 'on conflict (handler, message_id) do update set received_at = now()',
        noticedBy: 'two messages with one id have one effect',
      },
      {
        breaks: 'two consumers with the same messages deadlock',
        before: ' order by id\n',
        after: '\n',
        tests: test('inbox'),
        noticedBy: 'of consumers that receive the same messages in opposite order',
      },
    ],
  },
];
