import type { Aim, Table } from '../benchmark.ts';
import { cells } from '../support/chaos-cells.ts';
import { significant } from '../support/report.ts';
import type { ChaosMeasured } from './chaos.ts';

const COLUMNS = ['jobs', 'not done', 'lost', 'left', 'repeated', 'refused', 'rate during', 'rate back s', 'all done s'];

/** One table for each cell. */
export const chaosTables = (measured: readonly ChaosMeasured[]): Table[] =>
  cells.map(({ name, about }) => ({
    title: `${name}: ${about}`,
    columns: ['', 'verdict', ...COLUMNS],
    rows: measured.filter(({ cell }) => cell === name).map(rowOf),
  }));

const rowOf = (one: ChaosMeasured): string[] => [
  ...[one.contender, one.passed ? 'pass' : 'FAIL'],
  ...[one.jobs, one.notDone, one.lost, one.left, one.repeated, one.refused].map((count) =>
    count.toLocaleString('en-US'),
  ),
  ...[significant(one.during), significant(one.rateBackSeconds), significant(one.emptySeconds)],
];

/** What we promise: nothing is lost, and a message takes effect once. */
export const chaosAims = (measured: readonly ChaosMeasured[], ours: readonly string[]): Aim[] =>
  measured
    .filter(({ contender }) => ours.includes(contender))
    .flatMap(({ cell, contender, notDone, repeated }) => [
      { what: `${contender}, ${cell}: jobs not done`, atMost: 0, measured: exactly(notDone) },
      ...(contender === 'inbox'
        ? [{ what: `${contender}, ${cell}: jobs done twice`, atMost: 0, measured: exactly(repeated) }]
        : []),
    ]);

const exactly = (value: number) => ({ median: value, min: value, max: value });

/** How to read the tables. */
export const chaosNotes = (
  { aSecond, answerMs, floodJobs }: { aSecond: number; answerMs: number; floodJobs: number },
  minutes: number,
): string[] => [
  `Two workers each, ${aSecond} jobs a second. Receivers answer after ${answerMs} ms. A flood is ${floodJobs.toLocaleString('en-US')} jobs. A killed worker`,
  `is started again after 0.2 s. Passed: every job whose addition was acknowledged was done within ${minutes} minutes of the disturbance, and`,
  'the rate came back to 90 % of the one before, in a window of 3 s. A webhook is done when its receiver has answered a sender that is still',
  'there. "not done" by then, and "lost" when it is not on record either; "left": on record at the end, and still to be done, or done again;',
  '"repeated": done again; "refused": not added, while the store was away; "all done": all jobs added before the end of the disturbance.',
  'Documented settings: graphile-worker takes jobs of a dead worker after 4 hours, pg-boss after 15 minutes (expireInSeconds), BullMQ',
  'after 30 to 60 s (lockDuration, stalledInterval), the dispatcher after 45 s, the relay after 30 s, RabbitMQ at once. 32 jobs at once for',
  'each worker of the queues; of pg-boss in 4 batches of 8, with burstWhenBatchFull and a poll every 0.5 s; Redis appends to a file that it',
  'flushes every second. Jobs are added by another process, so nothing wakes dispatcher (it polls every 0.5 s) and relay (every second).',
];
