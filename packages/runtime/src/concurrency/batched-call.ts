import { randomUUID } from 'node:crypto';
import DataLoader from 'dataloader';
import { currentRequestId, withRequestId } from '../logger.ts';
import { currentSpan, withLinks, inSpan, type Span } from '../tracing/tracing.ts';
import { DeadlineExceeded, withTimeout } from './deadline.ts';
import { createSemaphore } from './semaphore.ts';

/** One input of a batch, and how many callers gave it. */
export type BatchedInput<Input> = { input: Input; count: number };

/** Too many callers wait already; this one was refused. */
export class Overloaded extends Error {
  constructor(maxWaiting: number) {
    super(`more than ${maxWaiting} calls are waiting`);
    this.name = 'Overloaded';
  }
}

type Waiting<Input> = {
  input: Input;
  requestId: string | undefined;
  span: Span | undefined;
  isTimedOut: boolean;
};

/**
 * A function whose simultaneous calls share one run, as DataLoader does it. Inputs that arrive while `concurrency` runs are under way
 * wait for the next one, so a batch grows with the load and a lone input waits for no timer.
 * @param keyOf inputs with the same key run once.
 * @param run returns results in the order of its inputs; when it throws, each of its callers gets that error.
 * @param answerOf the answer for the nth (from 0) caller of the same input.
 * @param maxBatch most inputs in one run, equal ones counted singly.
 * @param maxWaiting most callers without an answer; beyond them a call is rejected with Overloaded.
 * @param timeoutMs after which a call is rejected with DeadlineExceeded. An input that has not run by then never runs.
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
  async function runBatch(batch: readonly Waiting<Input>[]): Promise<(Answer | Error)[]> {
    const groups = new Map<string, BatchedInput<Input> & { index: number }>();
    const places = batch.map(({ input, isTimedOut }) => {
      if (isTimedOut) return null;
      const key = keyOf(input);
      const group = groups.get(key) ?? { input, count: 0, index: groups.size };
      groups.set(key, group);
      return { group, nth: group.count++ };
    });
    const results = groups.size === 0 ? [] : await onBehalfOf(batch, () => run([...groups.values()]));
    if (results.length !== groups.size)
      throw new Error(`a run of ${groups.size} inputs gave ${results.length} results`);
    return places.map((place) =>
      place === null
        ? new DeadlineExceeded(timeoutMs, 'waiting for a batch')
        : answerOf(results[place.group.index] as Result, place.group, place.nth),
    );
  }

  const loader = createLoader(runBatch, { maxBatch, concurrency });
  let waiting = 0;
  return async (input) => {
    if (waiting >= maxWaiting) throw new Overloaded(maxWaiting);
    waiting += 1;
    const call = { input, requestId: currentRequestId(), span: currentSpan(), isTimedOut: false };
    const answer = loader.load(call).finally(() => (waiting -= 1));
    try {
      return await withTimeout(timeoutMs, answer, 'a batched call');
    } catch (error) {
      // The flag decides, not the clock: a clock read again might disagree with the timer.
      call.isTimedOut = true;
      throw error;
    }
  };
}

/** Runs at most `concurrency` batches at once. A batch stays open for further items until it is dispatched. */
function createLoader<Item, Answer>(
  runBatch: (batch: readonly Item[]) => Promise<(Answer | Error)[]>,
  { maxBatch, concurrency }: { maxBatch: number; concurrency: number },
): DataLoader<Item, Answer> {
  const semaphore = createSemaphore(concurrency);
  let running: Promise<unknown> = Promise.resolve();
  const dispatchAndWait = async (dispatch: () => void): Promise<void> => {
    // It calls the function below before it returns.
    dispatch();
    await Promise.allSettled([running]);
  };
  return new DataLoader<Item, Answer>(
    (batch) => {
      const answers = runBatch(batch);
      running = answers;
      return answers;
    },
    {
      cache: false,
      maxBatchSize: maxBatch,
      // After the events of this turn of the loop, so that they share a batch.
      batchScheduleFn: (dispatch) => setImmediate(() => void semaphore(() => dispatchAndWait(dispatch))),
    },
  );
}

/** A run for one caller has its request id and belongs to its trace. A run for several has a new request id. */
function onBehalfOf<T>(batch: readonly Waiting<unknown>[], run: () => T): T {
  const [first, ...others] = batch;
  if (first !== undefined && others.length === 0) {
    return withRequestId(first.requestId ?? randomUUID(), () => inSpan(first.span, run));
  }
  const traceparents = batch.map(({ span }) => span?.traceparent);
  return withRequestId(randomUUID(), () => withLinks(traceparents, run));
}
