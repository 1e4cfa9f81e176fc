import { expect, test } from '@jest/globals';
import type { Aim } from '../benchmark.ts';
import { renderSummary, type PartOutcome } from './summary.ts';

const spread = (median: number) => ({ median, min: median, max: median });
const met: Aim = { what: 'events/s to raw', atLeast: 0.5, measured: spread(0.6) };
const missed: Aim = { what: 'MB at rest', atMost: 90, measured: spread(99) };
const broken: Aim = { what: 'creations/s to pgbench', atLeast: 0.5, measured: spread(6.1), brokenBaseline: 'slow' };
const unmeasured: Aim = { what: 'round trips', atMost: 1.5, measured: spread(Number.NaN) };

const part = (name: string, aims: readonly Aim[], failures: readonly string[] = []): PartOutcome => ({
  ...{ name, seconds: 100, aims, failures },
});

const summaryOf = (...parts: PartOutcome[]): string[] =>
  renderSummary({
    command: 'npm run bench',
    startedAt: new Date('2026-11-28T16:00:00Z'),
    seconds: 1_500,
    machine: { model: 'a processor', cores: 2, memoryBytes: 24 * 2 ** 30, load: { before: 0.25, after: 3 } },
    versions: { Node: 'v24.21.0', PostgreSQL: '18.4', bullmq: '6.7.0' },
    parts,
  }).split('\n');

test('every aim of every part has a row with its figure, its bound and its verdict', () => {
  const rows = summaryOf(part('webhooks', [met, unmeasured]), part('memory', [missed]), part('creation', [broken]))
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
  expect(rows.slice(2)).toEqual([
    ['webhooks', 'events/s to raw', '0.6', 'at least 0.5', 'met'],
    ['webhooks', 'round trips', '–', 'at most 1.5', 'not measured'],
    ['memory', 'MB at rest', '99', 'at most 90', 'missed by 10 %'],
    ['creation', 'creations/s to pgbench', '6.1', 'at least 0.5', 'baseline broken (slow)'],
  ]);
});

test('verdicts are counted, and only met aims are counted as met', () => {
  expect(summaryOf(part('webhooks', [met, met, unmeasured]), part('creation', [missed, broken]))[2]).toBe(
    '2 met, 1 missed, 1 baseline broken, 1 not measured',
  );
  expect(summaryOf(part('memory', [missed]))[2]).toBe('0 met, 1 missed');
});

test('a part that failed is named, also when it has no aims', () => {
  const lines = summaryOf(
    part('creation', [], ['pgbench is not on this machine']),
    part('webhooks', [met], ['claims']),
  );
  expect(lines[2]).toBe('1 met, 2 failed');
  expect(lines).toContain('- **failed** creation: pgbench is not on this machine');
  expect(lines).toContain('- **failed** webhooks: claims');
});

test('the summary says what the figures were measured on, and when', () => {
  const lines = summaryOf(part('webhooks', [met]));
  expect(lines.slice(-4)).toEqual([
    '- Day: 2026-11-28, 25 min',
    '- Machine: 2 cores (a processor), 24 GB; load 0.3 before, 3.0 after',
    '- Versions: Node v24.21.0, PostgreSQL 18.4, bullmq 6.7.0',
    '- Times: webhooks 2 min',
  ]);
});
