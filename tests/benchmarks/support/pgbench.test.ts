import { describe, expect, test } from '@jest/globals';
import { steadyPart } from './pgbench.ts';

describe('the rate of pgbench', () => {
  test('counts from when every client has ended its first transaction', () => {
    const transactions = [
      { client: 0, ms: 500, endedAt: 500 },
      { client: 0, ms: 10, endedAt: 510 },
      { client: 1, ms: 900, endedAt: 900 },
      { client: 1, ms: 50, endedAt: 950 },
      { client: 0, ms: 490, endedAt: 1_000 },
      { client: 1, ms: 150, endedAt: 1_100 },
    ];
    expect(steadyPart(transactions)).toEqual({ rate: 15, latenciesMs: [50, 490, 150], warmUpMs: 900 });
  });

  test('is that of all transactions when each client has only one', () => {
    const transactions = [
      { client: 0, ms: 300, endedAt: 1_300 },
      { client: 1, ms: 500, endedAt: 1_500 },
    ];
    expect(steadyPart(transactions)).toEqual({ rate: 4, latenciesMs: [300, 500], warmUpMs: 500 });
  });
});
