import { describe, expect, test } from '@jest/globals';
import { outcomeOf, defaultRetryDelaysSeconds, giveUpAfterSeconds } from '../src/events/outcome.ts';
import type { AttemptResult } from '../src/sending/sender.ts';
import type { Claimed } from '../src/lanes/claim.sql.ts';
import { paces } from '../src/state.ts';

const claimed: Claimed = {
  event_id: 'evt_1',
  lane_id: 'mer_1',
  lease_id: 'lease-1',
  cycle: 2,
  attempts: 3,
  lapsed: false,
  body: Buffer.from('{}'),
  traceparent: null,
  created_at: new Date('2026-03-01T11:00:00Z'),
  url: 'https://a.io/',
  host: 'a.io',
  key_id: 'whk_1',
  secret_encrypted: Buffer.alloc(0),
  encryption_key_id: 'key',
  pace: 'new',
};

const failure: AttemptResult = {
  errorCategory: 'http_5xx',
  httpStatus: 503,
  retryAfterSeconds: null,
  durationMs: 12,
  isComplete: true,
  remoteAddress: '8.8.8.8',
  errorCode: null,
};

const how = {
  startedAt: new Date('2026-03-01T12:00:00Z'),
  retryDelaysSeconds: [1, 10, 100, 1_000, 5_000],
  random: 0.5,
  pace: 'slow',
} as const;

describe('the stored outcome of an attempt', () => {
  test('has the claimed event, the next attempt number, the result and the next delay', () => {
    expect(outcomeOf(claimed, failure, how)).toEqual({
      event_id: 'evt_1',
      lane_id: 'mer_1',
      lease_id: 'lease-1',
      cycle: 2,
      n: 4,
      key_id: 'whk_1',
      started_at: how.startedAt,
      duration_ms: 12,
      http_status: 503,
      error_category: 'http_5xx',
      remote_ip: '8.8.8.8',
      pace: 'slow',
      // After the fourth failure, the fourth delay.
      retry_delay_seconds: 1_000,
    });
  });

  test("has the receiver's delay, and otherwise a random one", () => {
    expect(outcomeOf(claimed, { ...failure, retryAfterSeconds: 3_000 }, how).retry_delay_seconds).toBe(3_000);
    expect(outcomeOf(claimed, failure, { ...how, random: 1 }).retry_delay_seconds).toBeCloseTo(1_200);
  });

  test('has no delay after the last retry', () => {
    expect(outcomeOf({ ...claimed, attempts: 5 }, failure, how).retry_delay_seconds).toBeNull();
  });
});

test('an event is retried after 5 s, 1 min, 5 min, 30 min, 2 h, 8 h, 20 h and 40 h', () => {
  expect(defaultRetryDelaysSeconds).toEqual([5, 60, 300, 1_800, 7_200, 28_800, 72_000, 144_000]);
});

test('an event is given up three days after its last retry, with the longest delays', () => {
  expect(giveUpAfterSeconds([10, 90])).toBeCloseTo(120 + 3 * 86_400);
});

test('a lane is quick, new or slow', () => {
  expect(paces).toEqual(['quick', 'new', 'slow']);
});
