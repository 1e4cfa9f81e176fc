import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { HttpAnswer } from '../../../support/http.ts';
import { NoAnswer, RawConnection } from '../../../support/raw.ts';
import { hostileRequest, type World } from './generate.ts';
import { problemsOf } from '../../../support/shapes/judge.ts';
import { seededRandom } from './random.ts';
import { printed, toBytes, type HostileRequest } from './request.ts';

export type Report = {
  /** The number of answers by status. */
  statuses: Record<number, number>;
  /** The first failures, each with its request. */
  failures: string[];
};

const FAILURES_MAX = 25;
/** Less than the burst that the edge admits from one address. */
const REQUESTS_PER_ADDRESS = 12;

/**
 * Sends `count` requests, generated from the seed, over several connections to each entry point, and checks every answer. Connections are
 * reused as far as the answer allows it, so that a desynchronised one is noticed too.
 */
export async function runCampaign({
  seed,
  count,
  doors,
  workersPerDoor,
  world,
}: {
  seed: number;
  count: number;
  doors: readonly string[];
  workersPerDoor: number;
  world: World;
}): Promise<Report> {
  const report: Report = { statuses: {}, failures: [] };
  const secrets = world.merchants.flatMap(({ apiKey, rotationSecret }) => [apiKey, rotationSecret]);
  let next = 0;
  const work = async (door: string) => {
    let connection = new RawConnection(door);
    let before = 'nothing';
    let upgrading = false;
    for (let sent = 1; next < count && report.failures.length < FAILURES_MAX; sent += 1) {
      const index = next++;
      const random = seededRandom(seed + index);
      const request = hostileRequest(random, world);
      const bytes = toBytes(request, random);
      const outcome = await exchange(connection, request, bytes, secrets);
      // After a request for an upgrade Node's parser reports no more errors: the next request, if it is broken, just times out.
      if (outcome.answer?.status === 408 && !upgrading)
        outcome.problems.push('is a time-out, though all of it was sent');
      upgrading ||= request.headers.some(([name]) => name === 'Upgrade');
      if (outcome.answer !== null) {
        report.statuses[outcome.answer.status] = (report.statuses[outcome.answer.status] ?? 0) + 1;
        learn(world, outcome.answer);
      }
      if (outcome.problems.length > 0) {
        const what = `#${index} ${request.kind} to ${door}: ${outcome.problems.join('; ')}`;
        report.failures.push(`${what}\n  request: ${printed(bytes)}\n  after: ${before}`);
      }
      before = printed(bytes);
      if (!connection.isOpen || sent % REQUESTS_PER_ADDRESS === 0) {
        connection.close();
        connection = new RawConnection(door);
        before = 'nothing';
        upgrading = false;
      }
    }
    connection.close();
  };
  await Promise.all(doors.flatMap((door) => Array.from({ length: workersPerDoor }, () => work(door))));
  return report;
}

async function exchange(
  connection: RawConnection,
  { method, path }: HostileRequest,
  bytes: Buffer,
  secrets: readonly string[],
): Promise<{ answer: HttpAnswer | null; problems: string[] }> {
  try {
    const answer = await connection.ask(bytes, method);
    const problems = problemsOf(method, path, answer, secrets);
    // A server that refuses bytes without reading them cannot know that they are a HEAD, but then it closes the connection.
    const isBeyond = connection.surplus.length > 0 && (connection.isOpen || method !== 'HEAD');
    if (isBeyond) problems.push(`is followed by ${printed(connection.surplus)}`);
    return { answer, problems: problems.length === 0 ? [] : [...problems, `answer: ${printedAnswer(answer)}`] };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    connection.close();
    return { answer: null, problems: [error.message] };
  }
}

const printedAnswer = ({ status, rawHeaders, text }: HttpAnswer): string =>
  `${status} ${JSON.stringify(rawHeaders)} ${text.slice(0, 400)}`;

/** Keeps a limited number of ids, tokens and cursors from answers, for later requests. */
function learn(world: World, answer: HttpAnswer): void {
  if (answer.status !== 201 && answer.status !== 200) return;
  if (!(answer.headers['content-type'] ?? '').startsWith('application/json') || answer.text === '') return;
  const {
    payment_id: paymentId,
    payment_url: url,
    next_cursor: cursor,
  } = answer.json<Partial<Payment & { next_cursor: string }>>();
  if (paymentId !== undefined && url !== undefined && world.payments.length < 2_000) {
    world.payments.push({ paymentId, token: url.split('/').at(-1) ?? '' });
  }
  if (typeof cursor === 'string' && world.cursors.length < 500) world.cursors.push(cursor);
}
