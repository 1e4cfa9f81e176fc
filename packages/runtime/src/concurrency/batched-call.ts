import { currentRequestId } from '../logger.ts';
import { onBehalfOf } from '../tracing/on-behalf-of.ts';
import { currentSpan, type Span } from '../tracing/tracing.ts';
import { DeadlineExceeded, withTimeout } from './deadline.ts';
import { createMicroBatcher } from './micro-batch.ts';
import { Overloaded } from './overloaded.ts';

/** One input of a batch, and how many callers passed it. */
export type BatchedInput<Input> = { input: Input; count: number };

type Call<Input> = { input: Input; requestId: string | undefined; span: Span | undefined; isTimedOut: boolean };

/**
 * Returns a function whose simultaneous calls share one run (see micro-batch.ts). Both the time and the number of
 * callers are limited.
 * @param keyOf inputs with the same key run once.
 * @param run returns results in the order of its inputs. When it throws, each of its callers gets that error.
 * @param answerOf the answer for the nth (from 0) caller of the same input.
 * @param maxBatch the most calls in one run; equal inputs count separately.
 * @param maxWaiting the most callers without an answer. Further calls are rejected with Overloaded.
 * @param timeoutMs after this time a call is rejected with DeadlineExceeded. An input that has not run by then never
 *   runs.
 */
export function createBatchedCall<Input, Result, Answer>({
  keyOf,
  run,
  answerOf,
  maxBatch,
  maxWaiting,
  concurrency,
  timeoutMs,
}: {
  keyOf: (input: Input) => string;
  run: (inputs: readonly BatchedInput<Input>[]) => Promise<readonly Result[]>;
  answerOf: (result: Result, input: BatchedInput<Input>, nth: number) => Answer;
  maxBatch: number;
  maxWaiting: number;
  concurrency: number;
  timeoutMs: number;
}): (input: Input) => Promise<Answer> {
  async function runBatch(calls: readonly Call<Input>[]): Promise<Promise<Answer>[]> {
    const groups = new Map<string, BatchedInput<Input> & { index: number }>();
    const places = calls.map(({ input, isTimedOut }) => {
      if (isTimedOut) return null;
      const key = keyOf(input);
      const group = groups.get(key) ?? { input, count: 0, index: groups.size };
      groups.set(key, group);
      return { group, nth: group.count++ };
    });
    const results = groups.size === 0 ? [] : await onBehalfOf(calls, () => run([...groups.values()]));
    if (results.length !== groups.size)
      throw new Error(`a run of ${groups.size} inputs gave ${results.length} results`);
    return places.map(async (place) => {
      if (place === null) throw new DeadlineExceeded(timeoutMs, 'waiting for a batch');
      return answerOf(results[place.group.index] as Result, place.group, place.nth);
    });
  }

  const addToBatch = createMicroBatcher({ maxSize: maxBatch, concurrency, run: runBatch });
  let waiting = 0;
  return async (input) => {
    if (waiting >= maxWaiting) throw new Overloaded(maxWaiting);
    waiting += 1;
    const call = { input, requestId: currentRequestId(), span: currentSpan(), isTimedOut: false };
    const answer = addToBatch(call).finally(() => (waiting -= 1));
    try {
      return await withTimeout(timeoutMs, answer, 'a batched call');
    } catch (error) {
      // A flag, because reading the clock again could disagree with the timer.
      call.isTimedOut = true;
      throw error;
    }
  };
}
