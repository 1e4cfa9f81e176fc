import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { RpcError } from './errors.ts';

const decompress = promisify(gunzip);

/**
 * The text of an answer. Logs and receipts are mostly zeros, so that nodes send a tenth of them.
 * @param encoding the answer's content-encoding.
 * @param maxBytes of the text: a short answer may become a very long one.
 * @throws RpcError `range` for a longer text; `invalid_answer` for what is not in the encoding that it names, or in one not asked for.
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
      throw new RpcError('range', 'the answer is larger than we read');
    throw new RpcError('invalid_answer', 'an answer that cannot be decompressed');
  }
}
