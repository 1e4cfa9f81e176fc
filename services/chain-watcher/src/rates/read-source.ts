import { adapters, type ConfiguredSource, type Quote, UnusableAnswer } from './sources.ts';

/** More than all answers have: the bank's file is about 2 KiB. */
const ANSWER_MAX_BYTES = 64 * 1024;

/**
 * Reads everything that a source says, with one deadline for all its requests.
 * @throws Error when any request fails: a redirect, a status other than 200, a long answer, one that the source does not document.
 */
export async function readSource({ name, baseUrl }: ConfiguredSource, signal: AbortSignal): Promise<Quote[]> {
  const answers = adapters[name].requests.map(async ({ path, quotes }) => {
    const response = await fetch(`${baseUrl}${path}`, {
      redirect: 'error',
      headers: { accept: 'application/json, application/xml;q=0.9', 'user-agent': 'quittance' },
      signal,
    });
    const text = await readAtMost(response);
    if (response.status !== 200) throw new UnusableAnswer(`the answer has the status ${response.status}`);
    return quotes(text, new Date());
  });
  return (await Promise.all(answers)).flat();
}

async function readAtMost({ body }: Response): Promise<string> {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    bytes += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (bytes > ANSWER_MAX_BYTES) throw new UnusableAnswer(`the answer has more than ${ANSWER_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
