import { describe, expect, test } from '@jest/globals';
import { humanText } from '../src/output.ts';

describe('text for people', () => {
  test('a list is a table with aligned columns, and a missing value is a dash', () => {
    const merchants = [
      { merchant_id: 'mer_1', name: 'Shop', blocked_at: null },
      { merchant_id: 'mer_22', name: 'A longer name', country: 'NL' },
    ];
    expect(humanText({ merchants })).toBe(
      [
        'merchant_id  name           blocked_at  country',
        'mer_1        Shop           -           -',
        'mer_22       A longer name  -           NL',
      ].join('\n'),
    );
  });

  test('a record is one line a field, and what is nested follows under its name', () => {
    const text = humanText({
      gate: { used: 3 },
      status: 'active',
      attempts: [{ at: 'now', ok: true }],
      merchant_id: 'mer_1',
    });
    expect(text).toBe(
      [
        'status       active',
        'merchant_id  mer_1',
        '',
        'gate',
        '  used  3',
        '',
        'attempts',
        '  at   ok',
        '  now  true',
      ].join('\n'),
    );
  });

  test('a list whose items hold lists is shown item by item', () => {
    const chains = [
      { network: 'local', head: 5, endpoints: [{ host: 'a', up: true }] },
      { network: 'tron', head: null, endpoints: [] },
    ];
    const local = ['network  local', 'head     5', '', 'endpoints', '  host  up', '  a     true'];
    const tron = ['network  tron', 'head     -', '', 'endpoints', '  (none)'];
    expect(humanText(chains)).toBe([...local, '', ...tron].join('\n'));
  });

  test('an empty list says so', () => {
    expect(humanText({ events: [] })).toBe('(none)');
  });

  test('text from a merchant cannot move the cursor or begin a new line', () => {
    expect(humanText({ name: 'Shop\u001b[2J\nmerchant_id  mer_2' })).toBe('name  Shop [2J merchant_id  mer_2');
  });

  test('nor turn the direction of writing or hide in nothing', () => {
    expect(humanText({ name: 'a\u202eb\u200bc\u2066d' })).toBe('name  a b c d');
  });

  test('numbers stand to the right, times are short, and wide characters take the room they need', () => {
    const rows = [
      { name: '角の店', used: 7, at: '2026-01-31T12:00:00.123Z' },
      { name: 'e\u0301clair', used: 1234, at: null },
    ];
    expect(humanText(rows)).toBe(
      ['name    used  at', '角の店     7  2026-01-31 12:00:00Z', 'e\u0301clair  1234  -'].join('\n'),
    );
  });
});
