import { randomUUID } from 'node:crypto';
import DataLoader from 'dataloader';
import { currentRequestId, withRequestId } from '../logger.ts';
import { currentSpan, forSeveral, inSpan, type Span } from '../tracing/tracing.ts';
import { OutOfTime, within } from './deadline.ts';

/** A question, and how many asked it in this batch. */
export type Asked<Question> = { question: Question; times: number };

/** So many questions wait already that this one was not taken. */
export class Overloaded extends Error {
  constructor(maxWaiting: number) {
    super(`more than ${maxWaiting} questions are waiting`);
    this.name = 'Overloaded';
  }
}

type Waiting<Question> = {
  question: Question;
  requestId: string | undefined;
  span: Span | undefined;
  isGivenUp: boolean;
};

/**
 * Puts questions that come at the same time into one call. Those that come while `concurrency` calls are under way wait for the
 * next one, so a batch grows with the load and a lone question waits for nobody.
 * @param keyOf questions with one key are asked once.
 * @param run answers in the order of what it is asked; when it throws, everybody who asked gets its error.
 * @param answerOf what the nth (from 0) of those who asked the same question is told.
 * @param maxBatch most questions in one call, equal ones counted singly.
 * @param maxWaiting most questions that are not settled yet; beyond them, the promise is rejected with Overloaded.
 * @param timeoutMs after which a question is rejected with OutOfTime. One that was not asked by then is never asked.
 */
export function batched<Question, Result, Answer>({
  keyOf,
  run,
  answerOf,
  maxBatch,
  maxWaiting,
  concurrency,
  timeoutMs,
}: {
  keyOf: (question: Question) => string;
  run: (asked: readonly Asked<Question>[]) => Promise<readonly Result[]>;
  answerOf: (result: Result, asked: Asked<Question>, nth: number) => Answer;
  maxBatch: number;
  maxWaiting: number;
  concurrency: number;
  timeoutMs: number;
}): (question: Question) => Promise<Answer> {
  const slots = createSlots(concurrency);

  async function answerAll(questions: readonly Waiting<Question>[]): Promise<(Answer | Error)[]> {
    const groups = new Map<string, Asked<Question> & { position: number }>();
    const seats = questions.map(({ question, isGivenUp }) => {
      if (isGivenUp) return null;
      const key = keyOf(question);
      const group = groups.get(key) ?? { question, times: 0, position: groups.size };
      groups.set(key, group);
      return { group, nth: group.times++ };
    });
    const results = groups.size === 0 ? [] : await onBehalfOf(questions, () => run([...groups.values()]));
    if (results.length !== groups.size) throw new Error(`${groups.size} questions got ${results.length} answers`);
    return seats.map((seat) =>
      seat === null ? new OutOfTime(timeoutMs) : answerOf(results[seat.group.position] as Result, seat.group, seat.nth),
    );
  }

  const loader = new DataLoader<Waiting<Question>, Answer>(
    async (questions) => {
      try {
        return await answerAll(questions);
      } finally {
        slots.release();
      }
    },
    { cache: false, maxBatchSize: maxBatch, batchScheduleFn: slots.take },
  );

  let waiting = 0;
  return async (question) => {
    if (waiting >= maxWaiting) throw new Overloaded(maxWaiting);
    waiting += 1;
    const asked = { question, requestId: currentRequestId(), span: currentSpan(), isGivenUp: false };
    const answer = loader.load(asked).finally(() => (waiting -= 1));
    try {
      return await within(timeoutMs, answer);
    } catch (error) {
      // What decides is that the caller was told so: a clock read again might tell another time than the timer did.
      asked.isGivenUp = true;
      throw error;
    }
  };
}

/** A call for one request bears its id and is in its trace; one for several is a request of its own, and nobody's it might be taken for. */
function onBehalfOf<T>(questions: readonly Waiting<unknown>[], call: () => T): T {
  const [first, ...others] = questions;
  if (first !== undefined && others.length === 0) {
    return withRequestId(first.requestId ?? randomUUID(), () => inSpan(first.span, call));
  }
  const traceparents = questions.map(({ span }) => span?.traceparent);
  return withRequestId(randomUUID(), () => forSeveral(traceparents, call));
}

/** At most `count` dispatches at a time, each after the events of this turn of the loop, so that they share a batch. */
function createSlots(count: number): { take: (dispatch: () => void) => void; release: () => void } {
  let taken = 0;
  const waiting: (() => void)[] = [];
  return {
    take: (dispatch) => {
      setImmediate(() => {
        if (taken === count) return void waiting.push(dispatch);
        taken += 1;
        dispatch();
      });
    },
    release: () => {
      const next = waiting.shift();
      if (next === undefined) taken -= 1;
      else next();
    },
  };
}
