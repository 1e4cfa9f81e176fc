import { afterEach, describe, expect, test } from '@jest/globals';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createBackPressure, type BackPressure } from '../src/lanes/back-pressure.ts';

let pressure: BackPressure | null = null;
afterEach(() => pressure?.close());

const databaseNow = new Date('2026-11-21T12:00:00Z');

function pressureAt(clock: () => Date) {
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const created = createBackPressure({ clock, logger: testLogger, metrics });
  pressure = created;
  return { pressure: created, text: async () => (await metrics.render()).text };
}

describe('a process', () => {
  test.each([
    [30, null],
    [-30, null],
    [31, 'clock'],
    [-31, 'clock'],
    [400, 'clock'],
  ])('whose clock is %d s off the database is paused because of: %s', async (seconds, reason) => {
    const { pressure: it, text } = pressureAt(() => new Date(databaseNow.getTime() + seconds * 1000));
    it.databaseTime(databaseNow);
    expect(it.pauseReason()).toBe(reason);
    expect(await text()).toContain(`webhook_paused{reason="clock",service="test"} ${reason === null ? 0 : 1}`);
  });

  test('resumes when its clock is correct again', () => {
    let offMs = 60_000;
    const { pressure: it } = pressureAt(() => new Date(databaseNow.getTime() + offMs));
    it.databaseTime(databaseNow);
    expect(it.pauseReason()).toBe('clock');
    offMs = 0;
    it.databaseTime(databaseNow);
    expect(it.pauseReason()).toBeNull();
  });

  test('whose event loop was blocked is paused for a while', async () => {
    const { pressure: it, text } = pressureAt(() => databaseNow);
    expect(it.pauseReason()).toBeNull();
    const before = it.runMs();
    const until = performance.now() + 2_300;
    while (performance.now() < until) Math.sqrt(until);
    expect(it.pauseReason()).toBe('event_loop');
    // Until its timer was due.
    expect(it.runMs() - before).toBeLessThan(200);
    expect(await text()).toContain('webhook_paused{reason="event_loop",service="test"} 1');
    await eventually(() => expect(it.pauseReason()).toBeNull());
  });
});
