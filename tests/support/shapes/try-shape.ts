import type { HttpAnswer } from '../http.ts';
import { NoAnswer, RawConnection } from '../raw.ts';
import { problemsOf } from './judge.ts';
import type { Shape } from './shapes.ts';

/**
 * Sends a shape and, if the connection stays open, an ordinary request after it. The answer to that shows whether a part of the shape was
 * read as another request.
 * @returns the problems, one a line.
 */
export async function shapeProblems(door: string, shape: Shape, secrets: readonly string[]): Promise<string[]> {
  const connection = new RawConnection(door);
  try {
    const answer = await ask(connection, shape);
    if (answer === null) return [];
    const problems = problemsOf(shape.method, shape.path, answer, secrets);
    if (!shape.statuses.includes(answer.status)) problems.push(`is none of ${shape.statuses.join(', ')}`);
    if (shape.isIncomplete !== true) problems.push(...(await sequelProblems(connection)));
    const said = `${shape.name} at ${door} was answered ${answer.status} ${answer.text.slice(0, 200)}`;
    return problems.map((problem) => `${said}, which ${problem}`);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return [`${shape.name} at ${door}: ${error.message}`];
  } finally {
    connection.close();
  }
}

/** @returns null for an incomplete request whose connection just ended, which is allowed. */
async function ask(connection: RawConnection, { bytes, method, isIncomplete }: Shape): Promise<HttpAnswer | null> {
  try {
    const answer = connection.ask(bytes, method);
    if (isIncomplete === true) connection.finish();
    return await answer;
  } catch (error) {
    if (isIncomplete === true && error instanceof NoAnswer && !error.isTimeout) return null;
    throw error;
  }
}

async function sequelProblems(connection: RawConnection): Promise<string[]> {
  if (!connection.isOpen) return [];
  const id = 'the-request-after-it';
  const headers = `Host: x\r\nX-Request-ID: ${id}\r\n`;
  const answer = await connection.ask(`GET /api/v1/merchant/limits HTTP/1.1\r\n${headers}\r\n`, 'GET');
  if (answer.headers['x-request-id'] === id && answer.status === 401 && connection.surplus.length === 0) return [];
  return [
    `left something behind: the next answer was ${answer.status} ${JSON.stringify(answer.rawHeaders)} ${answer.text}`,
  ];
}
