import { expect, test } from '@jest/globals';
import { explore } from './explore.ts';
import type { Json, Running, Target, Verdict } from './target.ts';

/** A target in this process: what its inputs come to is decided by the test. */
function targetOf(put: (input: Json) => Verdict, check: string[] = []): Target & { started: () => number } {
  let started = 0;
  return {
    name: 'of-a-test',
    isWhole: false,
    about: 'of a test',
    starts: [{ list: [0] }],
    accepts: (input) => typeof input === 'object' && input !== null && 'list' in input,
    async start(): Promise<Running> {
      started += 1;
      return { put: async (input) => put(input), check: async () => check, close: async () => undefined };
    },
    started: () => started,
  };
}

const lengthOf = (input: Json): number => {
  const { list } = input as { list: Json };
  return Array.isArray(list) ? list.length : 0;
};

/** By four changes of one input a list gets no longer than this. */
const LENGTH_MAX = 1 + 4 * 40;

test('what comes to something new is changed further, so that more is reached than by changing the first inputs', async () => {
  let longest = 0;
  const target = targetOf((input) => {
    longest = Math.max(longest, lengthOf(input));
    return { problems: [], outcome: `${Math.floor(longest / 10)} tens` };
  });
  const report = await explore(target, {
    isOver: (put) => put > 5_000 || longest > 2 * LENGTH_MAX,
    seed: 1,
    say: () => undefined,
  });
  expect(longest).toBeGreaterThan(2 * LENGTH_MAX);
  expect(report.findings).toEqual([]);
  expect(report.kept.length).toBeGreaterThan(2);
});

test('a problem is told once with its input, and a system that breaks off is started again', async () => {
  const said: string[] = [];
  const target = targetOf((input) => {
    if (lengthOf(input) > 5) throw new Error(`a queue of ${lengthOf(input)} stands still`);
    return { problems: lengthOf(input) === 2 ? ['two are too many'] : [], outcome: 'done' };
  });
  const report = await explore(target, { isOver: (put) => put > 500, seed: 1, say: (line) => said.push(line) });
  const texts = report.findings.map((finding) => finding.split('\n')[0]!.replaceAll(/\d+/g, '#')).sort();
  expect(texts).toEqual(['broke off: Error: a queue of # stands still', 'two are too many']);
  expect(report.findings.join()).toMatch(/npm run fuzz -- of-a-test --input .*\.json/);
  expect(target.started()).toBeGreaterThan(1);
});

test('what does not hold at the end is a finding, too', async () => {
  const target = targetOf(() => ({ problems: [], outcome: 'done' }), ['it is not ready']);
  const report = await explore(target, { isOver: () => true, seed: 1, say: () => undefined });
  expect(report.findings).toEqual([expect.stringMatching(/^it is not ready\n/)]);
});
