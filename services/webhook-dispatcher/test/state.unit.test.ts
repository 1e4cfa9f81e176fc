import { describe, expect, test } from '@jest/globals';
import { statusesBefore } from '../src/state.ts';

describe('the state machine of a delivery', () => {
  test('what is delivered stays delivered, and a success counts whatever was said before', () => {
    expect(statusesBefore('delivered')).toEqual(['pending', 'failed']);
  });

  test('only a pending delivery can fail', () => {
    expect(statusesBefore('failed')).toEqual(['pending']);
  });

  test('only a failed delivery can be retried', () => {
    expect(statusesBefore('pending')).toEqual(['failed']);
  });
});
