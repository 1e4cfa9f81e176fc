import { describe, expect, test } from '@jest/globals';
import { currentRequestId, withRequestId } from '../src/logger.ts';
import { DeadlineExceeded } from '../src/concurrency/deadline.ts';
import { createBatchedCall, type BatchedInput } from '../src/concurrency/batched-call.ts';
import { Overloaded } from '../src/concurrency/overloaded.ts';

type Call = { requestId: string | undefined; asked: string[]; finish: () => void; fail: (error: Error) => void };

/** A batcher whose calls stay open until the test ends them. */
type Limits = { maxBatch?: number; maxWaiting?: number; concurrency?: number; timeoutMs?: number };
function manual(options: Limits = {}) {
  const calls: Call[] = [];
  const ask = createBatchedCall<string, string, string>({
    keyOf: (question) => question.toLowerCase(),
    run: (asked: readonly BatchedInput<string>[]) =>
      new Promise((resolve, reject) => {
        const questions = asked.map(({ input, count }) => `${input}×${count}`);
        calls.push({ requestId: currentRequestId(), asked: questions, finish: () => resolve(questions), fail: reject });
      }),
    answerOf: (result, { count }, nth) => `${result} ${nth + 1}/${count}`,
    maxBatch: options.maxBatch ?? 100,
    maxWaiting: options.maxWaiting ?? 100,
    timeoutMs: options.timeoutMs ?? 60_000,
    concurrency: options.concurrency ?? 1,
  });
  return { calls, ask };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('calls of one turn of the event loop', () => {
  test('are one run, and equal ones run once and are answered individually', async () => {
    const { calls, ask } = manual();
    const answers = Promise.all([ask('a'), ask('b'), ask('A')]);
    await turn();
    expect(calls.map(({ asked }) => asked)).toEqual([['a×2', 'b×1']]);
    calls[0]?.finish();
    expect(await answers).toEqual(['a×2 1/2', 'b×1 1/1', 'a×2 2/2']);
  });

  test('are several runs when they are too many for one', async () => {
    const { calls, ask } = manual({ maxBatch: 2, concurrency: 5 });
    const answers = Promise.all(['a', 'b', 'c', 'd', 'e'].map(ask));
    await turn();
    expect(calls.map(({ asked }) => asked.length)).toEqual([2, 2, 1]);
    calls.forEach(({ finish }) => finish());
    expect(await answers).toHaveLength(5);
  });
});

test('during a run, calls collect for the next one', async () => {
  const { calls, ask } = manual();
  const first = ask('a');
  await turn();
  const second = ask('b');
  await turn();
  const third = ask('c');
  await turn();
  expect(calls).toHaveLength(1);
  calls[0]?.finish();
  await first;
  expect(calls.map(({ asked }) => asked)).toEqual([['a×1'], ['b×1', 'c×1']]);
  calls[1]?.finish();
  expect(await Promise.all([second, third])).toEqual(['b×1 1/1', 'c×1 1/1']);
});

test('a failed run rejects its callers, and does not delay the next one', async () => {
  const { calls, ask } = manual();
  const first = [ask('a'), ask('b')].map((answer) => answer.catch((error: unknown) => (error as Error).message));
  await turn();
  const next = ask('c');
  await turn();
  calls[0]?.fail(new Error('no database'));
  expect(await Promise.all(first)).toEqual(['no database', 'no database']);
  await turn();
  calls[1]?.finish();
  expect(await next).toBe('c×1 1/1');
});

test('a run with fewer results than inputs is an error, never the result of a different input', async () => {
  const ask = createBatchedCall<string, string, string>({
    keyOf: (question) => question,
    run: async () => ['only one'],
    answerOf: (result) => result,
    maxBatch: 10,
    maxWaiting: 10,
    timeoutMs: 60_000,
    concurrency: 1,
  });
  const answers = await Promise.allSettled([ask('a'), ask('b')]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('beyond the limit of waiting calls, a call is refused immediately, and accepted again when there is room', async () => {
  const { calls, ask } = manual({ maxWaiting: 2 });
  const waiting = Promise.all([ask('a'), ask('b')]);
  await expect(ask('c')).rejects.toBeInstanceOf(Overloaded);
  await turn();
  calls[0]?.finish();
  await waiting;
  const next = ask('c');
  await turn();
  calls[1]?.finish();
  expect(await next).toBe('c×1 1/1');
});

test('a call times out, and its input does not run later', async () => {
  const { calls, ask } = manual({ timeoutMs: 1_000, maxWaiting: 2 });
  const asked = ask('a').catch((error: unknown) => error);
  await turn();
  const late = ask('b').catch((error: unknown) => error);
  expect(await asked).toBeInstanceOf(DeadlineExceeded);
  expect(await late).toBeInstanceOf(DeadlineExceeded);
  // Timed out, but not settled: such calls count towards the limit too.
  await expect(ask('c')).rejects.toBeInstanceOf(Overloaded);
  calls[0]?.finish();
  await turn();
  await turn();
  const next = ask('d');
  await turn();
  expect(calls.map(({ asked: questions }) => questions)).toEqual([['a×1'], ['d×1']]);
  calls[1]?.finish();
  expect(await next).toBe('d×1 1/1');
});

test('a run for one request has its id; one for several has a new one', async () => {
  const { calls, ask } = manual();
  const alone = withRequestId('first', () => ask('a'));
  await turn();
  const together = ['second', 'third'].map((id) => withRequestId(id, () => ask(id)));
  await turn();
  calls[0]?.finish();
  await alone;
  calls[1]?.finish();
  await Promise.all(together);
  expect(calls[0]?.requestId).toBe('first');
  expect(calls[1]?.requestId).toMatch(/^[0-9a-f-]{36}$/);
});
