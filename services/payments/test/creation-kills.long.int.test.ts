import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { amountOf } from '@quittance/testkit/random-runs.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import { createWhileSessionsEnd } from './creation-kills.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

// Real processes are slow on a busy machine; no test here depends on the time.

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

test('while its database sessions are killed, exactly what is allowed is created, counted, sent and answered to the byte', () =>
  withinOneDay(async () => {
    const campaign = {
      ...amountOf({ short: { merchants: 12, creations: 12 }, long: { merchants: 40, creations: 30 } }),
      clients: 3,
    };
    const report = await createWhileSessionsEnd(payments, campaign);
    expect(report.violations).toEqual([]);
    expect(report.created + report.refused).toBe(campaign.merchants * campaign.creations);
    // Otherwise no session was hit, and nothing is proven.
    expect(report.terminated).toBeGreaterThan(20);
    expect(report.unavailable).toBeGreaterThan(20);
    expect(report.refused).toBeGreaterThan(0);
  }));
