import { describe, expect, test } from '@jest/globals';
import { boundOf, renderResult, renderSpread, verdictOf } from './report.ts';

const what = 'a ratio';
const spread = (median: number) => ({ median, min: median / 2, max: median * 2 });

describe('the verdict on an aim', () => {
  test('depends on the median, and reaching the bound is enough', () => {
    expect(verdictOf({ what, atLeast: 0.5, measured: spread(0.5) })).toBe('met');
    expect(verdictOf({ what, atMost: 1.2, measured: spread(1.2) })).toBe('met');
    expect(verdictOf({ what, atLeast: 0.5, measured: spread(0.49) })).toBe('missed by 2 %');
    expect(verdictOf({ what, atMost: 1.2, measured: spread(1.5) })).toBe('missed by 25 %');
    expect(verdictOf({ what, atMost: 0, measured: spread(3) })).toBe('missed by 3');
  });

  test('is that nothing was measured when there is no figure, whatever the bound', () => {
    expect(verdictOf({ what, atLeast: 0, measured: spread(Number.NaN) })).toBe('not measured');
    expect(verdictOf({ what, atMost: 9, measured: spread(Number.NaN) })).toBe('not measured');
  });

  test('is never met with a broken baseline', () => {
    const brokenBaseline = 'a statement of pgbench took 6.3 ms, then 0.2 ms';
    const verdict = `baseline broken (${brokenBaseline})`;
    expect(verdictOf({ what, atLeast: 0.5, measured: spread(6.1), brokenBaseline })).toBe(verdict);
    expect(verdictOf({ what, atMost: 1.2, measured: spread(9), brokenBaseline })).toBe(verdict);
  });
});

test('a figure has its range, unless it was measured once or not at all', () => {
  expect(renderSpread({ median: 0.4, min: 0.2, max: 0.81 })).toBe('0.4 (0.2–0.81)');
  expect(renderSpread({ median: 99, min: 99, max: 99 })).toBe('99');
  expect(renderSpread({ median: Number.NaN, min: Number.NaN, max: Number.NaN })).toBe('–');
});

test('a bound is written as it was meant', () => {
  expect([boundOf({ atLeast: 1 / 1.2 }), boundOf({ atMost: 0.08 }), boundOf({ atMost: 30_000 })]).toEqual([
    'at least 0.83',
    'at most 0.08',
    'at most 30,000',
  ]);
});

test('the report of a part shows each aim with its verdict, and why a baseline is broken', () => {
  const aims = [
    { what: 'speed', atLeast: 0.5, measured: spread(0.4) },
    { what: 'growth', atMost: 1.2, measured: spread(1) },
    { what: 'rate', atLeast: 0.5, measured: spread(6), brokenBaseline: 'no index was used' },
  ];
  const lines = renderResult({ tables: [], notes: [], aims, measurements: null }).split('\n');
  expect(lines).toContain('missed by 20 %: speed: 0.4 (0.2–0.8), aim at least 0.5');
  expect(lines).toContain('met: growth: 1 (0.5–2), aim at most 1.2');
  expect(lines).toContain('baseline broken (no index was used): rate: 6 (3–12), aim at least 0.5');
});
