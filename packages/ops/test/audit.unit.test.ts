import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changedFields } from '@quittance/contracts/http/audit.ts';
import { mergePages, type AuditEntry } from '../src/merchants.ts';

const entry = (over: Partial<AuditEntry>): AuditEntry => ({
  at: '2026-01-31T12:00:00.000Z',
  service: 'quota',
  action: 'limits',
  actor: 'olga',
  reason: 'agreed by phone',
  before: null,
  after: null,
  ...over,
});

test('what changed is shown field by field, without ids and versions', () => {
  const before = { merchant_id: 'mer_1', policy_version: 3, total_limit: 5, daily_limit: null, access_type: 'beta' };
  const after = { ...before, policy_version: 4, total_limit: 9, daily_limit: 2 };
  expect(changedFields(entry({ before, after }))).toEqual([
    { field: 'total_limit', from: 5, to: 9 },
    { field: 'daily_limit', from: null, to: 2 },
  ]);
  expect(changedFields(entry({ after: { name: 'Shop', nothing: null } }))).toEqual([
    { field: 'name', from: null, to: 'Shop' },
  ]);
  expect(changedFields(entry({}))).toEqual([]);
});

test('page after page, every entry of every service is shown once, newest first', () => {
  // Few moments, so that many entries share one; no moment has a page full of them.
  const lists = fc.array(
    fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 400 }).map((moments) => {
      const seen = new Map<number, number>();
      return moments.map((moment) => {
        const nth = (seen.get(moment) ?? 0) + 1;
        seen.set(moment, nth);
        return new Date(moment * 1000 + Math.floor(nth / 60)).toISOString();
      });
    }),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(lists, (services) => {
      let id = 0;
      const all = services.map((moments) =>
        moments
          .toSorted()
          .toReversed()
          .map((at) => entry({ at, actor: String((id += 1)) })),
      );
      const shown: AuditEntry[] = [];
      let before: string | null = '9999';
      for (let pages = 0; before !== null && pages < 100; pages += 1) {
        const limit: string = before;
        const page = mergePages(all.map((list) => list.filter(({ at }) => at < limit).slice(0, 100)));
        shown.push(...page.entries);
        before = page.next_before;
      }
      expect(shown.map(({ at }) => at)).toEqual(
        shown
          .map(({ at }) => at)
          .toSorted()
          .toReversed(),
      );
      expect(shown.map(({ actor }) => Number(actor)).sort((a, b) => a - b)).toEqual(
        Array.from({ length: id }, (_item, at) => at + 1),
      );
    }),
  );
});
