import type { SqlMutants } from './mutant.ts';

const test = (name: string): string => `services/api-gateway/test/${name}.int.test.ts`;

/** Which keys are admitted. */
export const access: SqlMutants[] = [
  {
    file: 'services/api-gateway/src/limits/admission.sql.ts',
    tests: test('admission-sharing'),
    mutants: [
      {
        breaks: 'a revoked key works',
        before: 'and k.revoked_at is null',
        after: '',
        noticedBy: 'a key is refused after its revocation',
      },
      {
        breaks: 'a key for reading may do everything',
        before: `and (f.key_hash is not null or k.scope in ('all', a.needed) or a.needed = 'read')`,
        after: '',
        noticedBy:
          'keys of one merchant share its counters, also in one statement, and a key for reading only admits reads',
      },
      {
        breaks: 'a blocked merchant is admitted',
        before: `where m.status = 'active' and`,
        after: 'where',
        tests: test('credentials'),
        noticedBy: 'gets 401 for its key and its rotation secret until it is unblocked',
      },
    ],
  },
];
