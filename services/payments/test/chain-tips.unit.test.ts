import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createChainTips } from '../src/payment/progress.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

type Question = { answer: (height: number) => void; fail: () => void };

/** Views of one network's tip, and the questions they cause to chain-watcher, which the test answers. */
function manual() {
  const questions: Question[] = [];
  const logged: string[] = [];
  const readTips = createChainTips({
    logger: createLogger({ service: 'payments', level: 'warn' }, { write: (line) => void logged.push(line) }),
    reader: {
      tips: () =>
        new Promise((resolve, reject) => {
          questions.push({
            answer: (height) => resolve(new Map([['local', { network: 'local', height }]])),
            fail: () => reject(new Error('nobody there')),
          });
        }),
    },
  });
  /** The result of a view, once there is one; `still waiting` until then. */
  const look = () => {
    const told: { height: number | null | 'still waiting' } = { height: 'still waiting' };
    void readTips().then(({ tips }) => (told.height = tips.get('local')?.height ?? null));
    return told;
  };
  return { questions, look, logged };
}

const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

test('concurrent views wait for one question for tips, and its answer serves all for a second', async () => {
  const { questions, look } = manual();
  const together = [look(), look(), look()];
  await pass(20);
  expect(together.map(({ height }) => height)).toEqual(Array(3).fill('still waiting'));
  questions[0]!.answer(7);
  await pass(0);
  expect(together.map(({ height }) => height)).toEqual([7, 7, 7]);
  await pass(979);
  const later = look();
  await pass(0);
  expect([later.height, questions.length]).toEqual([7, 1]);
  await pass(1);
  const next = look();
  await pass(0);
  expect([next.height, questions.length]).toEqual(['still waiting', 2]);
  questions[1]!.answer(8);
  await pass(0);
  expect(next.height).toBe(8);
});

test('tips are not asked for while no payment is viewed', async () => {
  const { questions, look } = manual();
  await pass(5_000);
  expect(questions).toHaveLength(0);
  look();
  questions[0]!.answer(7);
  await pass(60_000);
  expect(questions).toHaveLength(1);
});

describe('a question for tips that is not answered', () => {
  test('delays one view by a tenth of a second: until a prompt answer, the stored tips serve at once', async () => {
    const { questions, look } = manual();
    const first = look();
    await pass(99);
    expect(first.height).toBe('still waiting');
    // An answer that has arrived by then is read before it gives up, which is a millisecond of this clock.
    await pass(2);
    expect(first.height).toBeNull();
    await pass(2_000);
    const second = look();
    await pass(0);
    // The first question is still running, so there is no other.
    expect([second.height, questions.length]).toEqual([null, 1]);
    questions[0]!.answer(7);
    await pass(0);
    const third = look();
    await pass(0);
    // The late answer is shown, and the next question is asked without a view waiting for it.
    expect([third.height, questions.length]).toEqual([7, 2]);
    questions[1]!.answer(8);
    await pass(1_000);
    const fourth = look();
    await pass(0);
    expect([fourth.height, questions.length]).toEqual(['still waiting', 3]);
  });

  test('keeps the stored tips and fails no view, and is asked again a second later', async () => {
    const { questions, look } = manual();
    look();
    questions[0]!.answer(7);
    await pass(1_000);
    const failed = look();
    questions[1]!.fail();
    await pass(0);
    expect(failed.height).toBe(7);
    await pass(999);
    const soon = look();
    await pass(0);
    expect([soon.height, questions.length]).toEqual([7, 2]);
    await pass(1);
    const again = look();
    await pass(0);
    expect([again.height, questions.length]).toEqual([7, 3]);
    questions[2]!.answer(9);
    await pass(0);
    const last = look();
    await pass(0);
    expect(last.height).toBe(9);
  });

  test('is logged once when it starts, whether it fails or is late', async () => {
    const { questions, look, logged } = manual();
    const fail = async () => {
      look();
      await pass(500);
      questions.at(-1)!.fail();
      await pass(500);
      return logged.length;
    };
    expect([await fail(), await fail()]).toEqual([1, 1]);
    look();
    questions.at(-1)!.answer(7);
    await pass(1_000);
    expect([await fail(), await fail()]).toEqual([2, 2]);
    expect(logged[0]).toContain('chain-watcher does not answer its tips');
  });
});
