import type { SqlMutants } from './mutant.ts';

const quota = 'services/quota/test/quota.int.test.ts';
const gateway = (name: string): string => `services/api-gateway/test/${name}.int.test.ts`;

/** Policies, accounts, API keys, rate limits. */
export const access: SqlMutants[] = [
  {
    file: 'services/quota/src/store.ts',
    tests: quota,
    mutants: [
      {
        breaks: 'two operators make the same version of a policy',
        before: '(select * from policy where merchant_id = $1 for update)',
        after: '(select * from policy where merchant_id = $1)',
        noticedBy: 'that arrives while another one is being written is applied after it, to its result',
      },
      {
        breaks: 'an old status of an account replaces a newer one',
        before: 'where merchant_status.status_version < excluded.status_version',
        after: 'where merchant_status.status_version <> excluded.status_version',
        noticedBy: 'a lower status_version is ignored, even if it arrives later',
      },
      {
        breaks: 'registration forgets a block that came before it',
        before: 'do update set status = merchant_status.status',
        after: 'do update set status = excluded.status',
        noticedBy: 'a status received before the registration counts from the start',
      },
      {
        breaks: 'a day counts only its last payments',
        before: 'usage_day.payments_created + excluded.payments_created',
        after: 'excluded.payments_created',
        noticedBy: ['the usage history counts each payment', 'payments of one batch are counted together'],
      },
    ],
  },
  {
    file: 'services/api-gateway/src/limits/admission.sql.ts',
    tests: gateway('admission'),
    mutants: [
      {
        breaks: 'each request moves the end of its window',
        before: 'then t.now + (excluded.ends_at - excluded.started_at) else w.ends_at end',
        after: 'then t.now + (excluded.ends_at - excluded.started_at) else excluded.ends_at end',
        noticedBy: 'counts refused attempts without moving the end of its window',
      },
      {
        breaks: 'requests of one statement count once',
        before: 'then excluded.count else w.count + excluded.count end',
        after: 'then excluded.count else w.count + 1 end',
        tests: gateway('admission-sharing'),
        noticedBy: ['two replicas that take the same rows', 'keys of one merchant share its counters'],
      },
      {
        breaks: 'a window that is over goes on counting',
        before: 'then excluded.count else w.count + excluded.count end',
        after: 'then w.count + excluded.count else w.count + excluded.count end',
        noticedBy: 'counts refused attempts without moving the end of its window',
      },
      {
        breaks: 'windows are swept before they are over',
        before: 'where ends_at <= clock_timestamp() order by ends_at',
        after: 'where started_at <= clock_timestamp() order by ends_at',
        noticedBy: 'is deleted after its window has ended, and not before',
      },
    ],
  },
  {
    file: 'services/api-gateway/src/limits/admission.sql.ts',
    tests: gateway('admission-sharing'),
    mutants: [
      {
        breaks: 'a revoked key works',
        before: 'and k.revoked_at is null',
        after: '',
        noticedBy: 'a key is refused after its revocation',
      },
      {
        breaks: 'a key for reading does everything',
        before: `and (a.is_read or f.key_hash is not null or k.scope = 'all')`,
        after: '',
        noticedBy:
          'keys of one merchant share its counters, also in one statement, and a key for reading only admits reads',
      },
      {
        breaks: 'a blocked merchant is admitted',
        before: `where m.status = 'active' and`,
        after: 'where',
        tests: gateway('credentials'),
        noticedBy: 'gets 401 for its key and its rotation secret until it is unblocked',
      },
      {
        breaks: 'of requests that share a statement each has the count of the last one',
        before: '- sum(requests) over (partition by caller.scope, merchant_id) + requests_so_far)',
        after: ')',
        noticedBy: ['requests that share a statement are counted separately', 'two replicas that take the same rows'],
      },
    ],
  },
  {
    file: 'services/api-gateway/src/keys/key.sql.ts',
    tests: gateway('credentials'),
    mutants: [
      {
        breaks: 'a rotation beyond the limit replaces the key',
        before: 'where counted.count <= $4::integer and',
        after: 'where counted.count <= $4::integer + 1000 and',
        noticedBy: 'counts attempts per supplied secret, including unknown ones, and does not rotate above the limit',
      },
      {
        breaks: 'a blocked merchant rotates its key',
        before: `r.secret_hash = $2 and m.status = 'active'`,
        after: 'r.secret_hash = $2',
        noticedBy: 'gets 401 for its key and its rotation secret until it is unblocked',
      },
    ],
  },
];
