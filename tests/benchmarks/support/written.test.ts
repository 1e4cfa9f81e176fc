import { describe, expect, test } from '@jest/globals';
import { requireSameWrites } from './written.ts';

const rows = (inserted: number, updated = 0) => ({ inserted, updated, deleted: 0 });

describe('the writes of two contenders', () => {
  test('are the same when every table got the same rows', () => {
    const written = { payment: rows(1000), gate: rows(0, 1000), wallet: rows(63) };
    expect(() => requireSameWrites(1000, written, { ...written, wallet: rows(62) })).not.toThrow();
  });

  test('differ when one omits a row, updates once more, or writes a table that the other does not', () => {
    const ours = { payment: rows(1000), gate: rows(0, 1000) };
    expect(() => requireSameWrites(1000, ours, { payment: rows(1000), gate: rows(0, 0) })).toThrow(
      'updated in gate: 1000 and 0',
    );
    expect(() => requireSameWrites(1000, ours, { ...ours, payment: rows(2000) })).toThrow('inserted in payment');
    expect(() => requireSameWrites(1000, { ...ours, audit: rows(1000) }, ours)).toThrow(
      'inserted in audit: 1000 and 0',
    );
  });

  test("do not differ by the relay's work, which pgbench does not have", () => {
    const relayed = { outbox: { inserted: 1000, updated: 1000, deleted: 1000 }, sent_message: rows(1000) };
    expect(() => requireSameWrites(1000, relayed, { outbox: rows(1000) })).not.toThrow();
    expect(() => requireSameWrites(1000, relayed, { outbox: rows(0) })).toThrow('inserted in outbox');
  });
});
