import { connect, type Socket } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';
import { sourceAddress, type HttpAnswer } from './http.ts';

/** The longest time for an answer; far above the two seconds that the slowest one needs. */
const TIMEOUT_MS = 20_000;

/** The connection ended, or went silent, before an answer was complete. */
export class NoAnswer extends Error {
  /** The bytes received until then. */
  readonly received: Buffer;
  readonly isTimeout: boolean;
  constructor(reason: string, received: Buffer, isTimeout = false) {
    super(`${reason} after ${received.length} bytes: ${JSON.stringify(received.toString('latin1').slice(0, 300))}`);
    this.received = received;
    this.isTimeout = isTimeout;
  }
}

/** A connection that sends exactly the given bytes, which HTTP libraries refuse to do for the bytes that tests need. */
export class RawConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #ended: string | null = null;
  #mayContinue = true;
  #wake: () => void = () => undefined;

  /** @param from the loopback address it comes from. Default: a random one. */
  constructor(baseUrl: string, from: string | undefined = sourceAddress()) {
    const { hostname, port } = new URL(baseUrl);
    this.#socket = connect({ host: hostname, port: Number(port), ...(from !== undefined && { localAddress: from }) });
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.#socket.on('error', (error) => this.#end(error.message));
    this.#socket.on('close', () => this.#end('the connection was closed'));
  }

  /** Whether the last answer left the connection open for another request. */
  get isOpen(): boolean {
    return this.#ended === null && this.#mayContinue;
  }

  /** Bytes after the last answer, which no request caused. */
  get surplus(): Buffer {
    return this.#received;
  }

  /**
   * Sends the bytes of one request and reads one answer.
   * @param method decides whether the answer has a body.
   * @throws NoAnswer
   */
  async ask(bytes: Buffer | string, method: string): Promise<HttpAnswer> {
    this.#socket.write(bytes);
    let isTimeout = false;
    const timer = setTimeout(() => {
      isTimeout = true;
      this.#end(`no answer within ${TIMEOUT_MS} ms`);
    }, TIMEOUT_MS);
    try {
      for (;;) {
        const read = readAnswer(this.#received, method, this.#ended !== null);
        if (read !== null) {
          this.#received = read.rest;
          const isClosing = /\bclose\b/i.test(read.answer.headers.connection ?? '');
          this.#mayContinue = !isClosing && !read.isUntilEnd;
          return read.answer;
        }
        if (this.#ended !== null) throw new NoAnswer(this.#ended, this.#received, isTimeout);
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes the sending side. */
  finish(): void {
    this.#socket.end();
  }

  close(): void {
    this.#socket.destroy();
  }

  #end(reason: string): void {
    this.#ended ??= reason;
    this.#wake();
  }
}

type Read = { answer: HttpAnswer; rest: Buffer; isUntilEnd: boolean };

/** @returns null while the answer is incomplete. @throws NoAnswer for bytes that are not an HTTP/1 answer. */
function readAnswer(received: Buffer, method: string, isEnded: boolean): Read | null {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const [statusLine = '', ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new NoAnswer('not an HTTP answer', received);
  const afterHead = received.subarray(headEnd + 4);
  // Informational answers such as 100 Continue come before the final one.
  if (status < 200) return readAnswer(afterHead, method, isEnded);
  const rawHeaders = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const headers = joined(rawHeaders);
  const body = readBody(afterHead, headers, method === 'HEAD' || status === 204 || status === 304, isEnded);
  if (body === null) return null;
  const text = body.bytes.toString();
  return {
    answer: { status, headers, rawHeaders, text, json: <T>() => JSON.parse(text) as T },
    rest: body.rest,
    isUntilEnd: body.isUntilEnd,
  };
}

function joined(rawHeaders: string[]): IncomingHttpHeaders {
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    const value = rawHeaders[index + 1]!;
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

type Body = { bytes: Buffer; rest: Buffer; isUntilEnd: boolean };

function readBody(after: Buffer, headers: IncomingHttpHeaders, isEmpty: boolean, isEnded: boolean): Body | null {
  const cut = (length: number) => ({
    bytes: after.subarray(0, length),
    rest: after.subarray(length),
    isUntilEnd: false,
  });
  if (isEmpty) return cut(0);
  if (/chunked/i.test(headers['transfer-encoding'] ?? '')) return readChunks(after);
  const length = headers['content-length'];
  if (length !== undefined) return after.length >= Number(length) ? cut(Number(length)) : null;
  return isEnded ? { bytes: after, rest: Buffer.alloc(0), isUntilEnd: true } : null;
}

function readChunks(after: Buffer): Body | null {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = after.indexOf('\r\n', at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(after.subarray(at, lineEnd).toString('latin1'), 16);
    const next = lineEnd + 2 + size + 2;
    if (Number.isNaN(size) || after.length < next) return null;
    if (size === 0) return { bytes: Buffer.concat(chunks), rest: after.subarray(next), isUntilEnd: false };
    chunks.push(after.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}
