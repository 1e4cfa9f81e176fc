import { describe, expect, test } from '@jest/globals';
import { facts, table as tableOf, type Columns, type Value } from '@quittance/operator/view.ts';
import { viewText } from '../src/text.ts';

const table = <Row>(rows: readonly Row[], columns: Columns<Row>): string => viewText([tableOf(null, rows, columns)]);
const record = (fields: Record<string, Value>): string => viewText([facts(fields)]);

describe('text for people', () => {
  test('a list is a table with aligned columns, and a missing value is a dash', () => {
    const merchants = [
      { merchant_id: 'mer_1', name: 'Shop', blocked_at: null },
      { merchant_id: 'mer_22', name: 'A longer name', country: 'NL' },
    ];
    const text = table(merchants, {
      merchant_id: 'merchant_id',
      name: 'name',
      blocked_at: 'blocked_at',
      country: 'country',
    });
    expect(text).toBe(
      [
        'merchant_id  name           blocked_at  country',
        'mer_1        Shop           -           -',
        'mer_22       A longer name  -           NL',
      ].join('\n'),
    );
  });

  test('a record is one line a field', () => {
    const text = record({ status: 'active', merchant_id: 'mer_1', ok: true });
    expect(text).toBe(['status       active', 'merchant_id  mer_1', 'ok           true'].join('\n'));
  });

  test('a section is indented under its title', () => {
    const text = viewText([facts({ used: 3 }, 'gate'), facts({ at: 'ok', now: true }, 'attempts')]);
    expect(text).toBe(['gate', '  used  3', '', 'attempts', '  at   ok', '  now  true'].join('\n'));
  });

  test('an empty list says so', () => {
    expect(table([], { event: () => null })).toBe('(none)');
  });

  test('text from a merchant cannot move the cursor or begin a new line', () => {
    expect(record({ name: 'Shop\u001b[2J\nmerchant_id  mer_2' })).toBe('name  Shop [2J merchant_id  mer_2');
  });

  test('text from a merchant cannot turn the direction of writing or hide in nothing', () => {
    expect(record({ name: 'a\u202eb\u200bc\u2066d' })).toBe('name  a b c d');
  });

  test('numbers stand to the right, times are short, and wide characters take the room they need', () => {
    const rows = [
      { name: '角の店', used: 7, at: '2026-01-31T12:00:00.123Z' },
      { name: 'e\u0301clair', used: 1234, at: null },
    ];
    const text = table(rows, {
      name: 'name',
      used: 'used',
      at: 'at',
    });
    expect(text).toBe(['name    used  at', '角の店     7  2026-01-31 12:00:00Z', 'e\u0301clair  1234  -'].join('\n'));
  });
});
