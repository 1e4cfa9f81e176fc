import { describe, expect, test } from '@jest/globals';
import { statusesBefore } from '../src/state.ts';

describe('the state machine of a delivery', () => {
  test('keeps a delivered event delivered, and lets a success follow a failure', () => {
    expect(statusesBefore('delivered')).toEqual(['pending', 'failed']);
  });

  test('lets only a pending delivery fail', () => {
    expect(statusesBefore('failed')).toEqual(['pending']);
  });

  test('lets only a failed delivery be retried', () => {
    expect(statusesBefore('pending')).toEqual(['failed']);
  });
});
