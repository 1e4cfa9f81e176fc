import { describe, expect, test } from '@jest/globals';
import { isMet, renderResult } from './report.ts';

const spread = (median: number) => ({ median, min: median / 2, max: median * 2 });

describe('aims of a benchmark', () => {
  test('the median decides, and reaching the bound is enough', () => {
    expect(isMet({ atLeast: 0.5, measured: spread(0.5) })).toBe(true);
    expect(isMet({ atLeast: 0.5, measured: spread(0.49) })).toBe(false);
    expect(isMet({ atMost: 1.2, measured: spread(1.2) })).toBe(true);
    expect(isMet({ atMost: 1.2, measured: spread(1.21) })).toBe(false);
  });

  test('a ratio that could not be measured misses every aim', () => {
    expect(isMet({ atLeast: 0, measured: spread(Number.NaN) })).toBe(false);
    expect(isMet({ atMost: 9, measured: spread(Number.NaN) })).toBe(false);
  });

  test('the report shows whether each aim is met', () => {
    const aims = [
      { what: 'speed', atLeast: 0.5, measured: spread(0.4) },
      { what: 'growth', atMost: 1.2, measured: spread(1) },
    ];
    const lines = renderResult({ tables: [], notes: [], aims, measurements: null }).split('\n');
    expect(lines).toContain('missed  speed: 0.4 (0.2–0.8), aim at least 0.5');
    expect(lines).toContain('met     growth: 1 (0.5–2), aim at most 1.2');
  });
});
