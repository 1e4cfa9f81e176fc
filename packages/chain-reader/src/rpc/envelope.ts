import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { JsonRpcError, JsonRpcPayload, JsonRpcResult } from 'ethers/providers';
import type { Dispatcher } from 'undici';
import { RpcError } from './errors.ts';

/** The error of a JSON-RPC answer of any form. `data` is text: some providers put the reason there. */
export type RpcFailure = { code: number; message: string; data: string };

/**
 * The answers to these calls, in any order. Each call must be answered exactly once, by a result or an error: ethers would accept
 * `undefined` as a result, and treat a missing answer as a bug.
 * @returns null when the body is anything else.
 */
export function answersTo(calls: readonly JsonRpcPayload[], body: unknown): Answer[] | null {
  // A node may answer a batch of one with an object, and a single call with a list.
  const entries: unknown[] = Array.isArray(body) ? body : [body];
  if (entries.length !== calls.length) return null;
  const open = new Set(calls.map(({ id }) => id));
  const answers: Answer[] = [];
  for (const entry of entries) {
    const answer = parseAnswer(entry);
    if (answer === null || !open.delete(answer.id)) return null;
    answers.push(answer);
  }
  return answers;
}

export type Answer = JsonRpcResult | (JsonRpcError & { error: RpcFailure });

/** The error of a body that answers no particular call: an object, or a list with one anywhere. Null when there is none. */
export function failureIn(body: unknown): RpcFailure | null {
  const entries: unknown[] = Array.isArray(body) ? body : [body];
  for (const entry of entries) {
    // Tron writes "Error", with a capital.
    const failure = isObject(entry) ? (entry['error'] ?? entry['Error'] ?? null) : null;
    if (failure !== null) return parseFailure(failure);
  }
  return null;
}

/** The error of a body that is only the error object: { code, message }. Null when it is something else. */
export function bareFailure(body: unknown): RpcFailure | null {
  return isObject(body) && typeof body['message'] === 'string' ? parseFailure(body) : null;
}

export function textOf({ message, data }: RpcFailure): string {
  return data === '' ? message : `${message} ${data}`;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function parseAnswer(entry: unknown): Answer | null {
  if (!isObject(entry) || typeof entry['id'] !== 'number') return null;
  const { id, error } = entry;
  if (error !== undefined && error !== null) return { id, error: parseFailure(error) };
  // ethers treats every answer with an `error`, even null, as a failure.
  return 'result' in entry ? { id, result: entry['result'] } : null;
}

function parseFailure(failure: unknown): RpcFailure {
  if (!isObject(failure)) return { code: 0, message: String(failure), data: '' };
  const { code, message, data } = failure;
  const text = typeof data === 'string' ? data : isObject(data) ? JSON.stringify(data) : '';
  return {
    code: typeof code === 'number' ? code : 0,
    message: typeof message === 'string' ? message : JSON.stringify(failure),
    data: text,
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const decompress = promisify(gunzip);

/**
 * The text of an answer. Logs and receipts are mostly zeros, so nodes compress them to a tenth.
 * @param encoding the answer's content-encoding.
 * @param maxBytes of the decompressed text, because a short answer may become a very long text.
 * @throws RpcError `range` for a longer text; `invalid_answer` for data that cannot be decompressed, or an encoding that was not requested.
 */
export async function readText(
  body: Dispatcher.ResponseData['body'],
  encoding: string | string[] | undefined,
  maxBytes: number,
): Promise<string> {
  const name = String(encoding ?? 'identity').toLowerCase();
  if (name === 'identity') return body.text();
  const compressed = await body.bytes();
  if (name !== 'gzip') throw new RpcError('invalid_answer', 'an answer in an encoding that was not asked for');
  try {
    return (await decompress(compressed, { maxOutputLength: maxBytes })).toString('utf8');
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE')
      throw new RpcError('range', 'the answer is too large');
    throw new RpcError('invalid_answer', 'an answer that cannot be decompressed');
  }
}
