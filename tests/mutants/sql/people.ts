import type { SqlMutants } from './mutant.ts';

const passkeys = 'services/api-gateway/test/passkeys.int.test.ts';
const queue = 'packages/notifier/test/queue.int.test.ts';

/** Passkeys, confirmations and sessions of people, and notices. */
export const people: SqlMutants[] = [
  {
    file: 'services/api-gateway/src/operators/passkey.sql.ts',
    tests: passkeys,
    mutants: [
      {
        breaks: 'a signature is accepted twice',
        before: 'delete from passkey_challenge where challenge = $1 and ends_at',
        after: 'update passkey_challenge set ends_at = ends_at where challenge = $1 and ends_at',
        noticedBy: 'a signature used before',
      },
      {
        breaks: 'a signature is accepted however late it comes',
        before: 'where challenge = $1 and ends_at > clock_timestamp()',
        after: 'where challenge = $1 and ends_at is not null',
        noticedBy: 'or too late',
      },
      {
        breaks: 'a signature for one session is accepted in another',
        before: 'session_hash is not distinct from $2 and',
        after: '$2::bytea is not distinct from $2 and',
        noticedBy: 'of another session',
      },
      {
        breaks: 'a signature for one request confirms another',
        before: 'request_hash is not distinct from $3`',
        after: '$3::text is not distinct from $3`',
        noticedBy: 'is not given for the passkey of somebody else',
      },
      {
        breaks: 'a disabled person signs in with a passkey',
        before: `else l.disabled_at is null and m.status = 'active' end`,
        after: `else m.status = 'active' end`,
        noticedBy: 'or one of a disabled person, is 401',
      },
      {
        breaks: 'sessions stay open after the passkeys are reset',
        before: `delete from operator_session where \${isOwned}\`, owner`,
        after: `select from operator_session where \${isOwned}\`, owner`,
        noticedBy: 'no session and no passkey works',
      },
      {
        breaks: 'a person ends the session of another',
        before: 'delete from operator_session where ${isOwned} and ${sessionId} = $4',
        after: `delete from operator_session where num_nulls($1::text, $2::text, $3::text) < 9 and \${sessionId} = $4`,
        noticedBy: 'the account lists the sessions and ends them',
      },
    ],
  },
  {
    file: 'packages/notifier/src/notices/notice.sql.ts',
    tests: queue,
    mutants: [
      {
        breaks: 'two processes send the same notice',
        before: `update notice n set next_attempt_at = now() + make_interval(secs => $4)`,
        after: `update notice n set next_attempt_at = now() - make_interval(secs => $4)`,
        noticedBy: 'two processes never have the same notice',
      },
      {
        breaks: 'more notices leave than the limit an hour',
        before: `select greatest(now(), (select`,
        after: `select least(now(), (select`,
        noticedBy: 'more notices than the limit an hour wait',
      },
      {
        breaks: 'a notice that has ended is deleted too early',
        before: 'ended_at < now() - make_interval(days => $1)',
        after: 'ended_at < now() + make_interval(days => $1)',
        noticedBy: 'old ended ones are deleted',
      },
    ],
  },
];
