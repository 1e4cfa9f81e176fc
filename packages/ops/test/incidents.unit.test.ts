import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parsePlace, type Place } from '@quittance/operator/incidents.ts';
import { mergeIncidents } from '../src/incidents.ts';

type Row = { incident_id: string; opened_at: string; service: keyof Place };

const services = ['payments', 'chain-watcher'] as const;

/** Distinct and well-formed; the service is in the first digit. */
const idOf = (service: number, nth: number) =>
  `${service}${nth.toString(16).padStart(7, '0')}-0000-4000-8000-000000000000`;

/** What a service answers: at most a hundred, after the one with this id. */
const pageOf = (rows: readonly Row[], after: string | null) => {
  const from = after === null ? 0 : rows.findIndex(({ incident_id: id }) => id === after) + 1;
  return rows.slice(from, from + 100);
};

test('page after page, every incident of both services is shown once, newest first, also those of one moment', () => {
  const moments = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 350 });
  fc.assert(
    fc.property(moments, moments, (...all) => {
      const [payments = [], chain = []] = all.map((times, service) =>
        times
          .toSorted((a, b) => b - a)
          .map((moment, nth): Row => ({
            incident_id: idOf(service, nth),
            opened_at: new Date(moment * 1000).toISOString(),
            service: services[service as 0 | 1],
          })),
      );
      const shown: Row[] = [];
      let place: Place | null = { payments: null, 'chain-watcher': null };
      for (let pages = 0; place !== null && pages < 20; pages += 1) {
        const lists: Row[][] = [pageOf(payments, place.payments), pageOf(chain, place['chain-watcher'])];
        const page: ReturnType<typeof mergeIncidents<Row>> = mergeIncidents(lists, place);
        expect(page.incidents.length).toBeLessThanOrEqual(100);
        shown.push(...page.incidents);
        place = page.next_before === null ? null : parsePlace(page.next_before);
      }
      const times = shown.map(({ opened_at }) => opened_at);
      expect(times).toEqual(times.toSorted().toReversed());
      expect(shown.map(({ incident_id }) => incident_id).sort()).toEqual(
        [...payments, ...chain].map(({ incident_id }) => incident_id).sort(),
      );
    }),
  );
});

test('a service that is silent is gone on with where it was', () => {
  const payments = Array.from({ length: 100 }, (_, nth): Row => ({
    ...{ incident_id: idOf(0, nth), opened_at: '2026-01-31', service: 'payments' },
  }));
  const place = { payments: idOf(0, 500), 'chain-watcher': idOf(1, 7) };
  expect(mergeIncidents([payments, []], place).next_before).toBe(`${idOf(0, 99)},${idOf(1, 7)}`);
});

test.each(['', 'none', idOf(0, 1), `${idOf(0, 1)},`, `${idOf(0, 1)},yesterday`, `${idOf(0, 1)},none,none`])(
  '%j is no place to go on from',
  (text) => expect(parsePlace(text)).toBeNull(),
);
