import { SendError } from './errors.ts';

/** What counts of an answer. */
export type Answer = { status: number; retryAfter: string | null };

/** How much of an answer is read after its status line, only so that the connection can be used again. */
const MAX_BYTES = 64 * 1024;
/** A status line, and everything before it. */
const MAX_START_BYTES = 16 * 1024;
/** Statuses 100, 102 and 103 may come a few times before an answer. */
const MAX_INTERIM_ANSWERS = 16;
/** How long idle connections are kept if the receiver announces nothing, and at most. */
const [IDLE_MS, MAX_IDLE_MS] = [4_000, 60_000];

const statusLine = /^HTTP\/\d(\.\d)?[ \t]+(\d{3})(?:[ \t]|$)/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[\x21-\x7e\x80-\xff]+[ \t]*)*)$/;
const chunkLine = /^([0-9A-Fa-f]{1,6})(?:;[\t\x20-\x7e\x80-\xff]*)?$/;

/**
 * Reads the answer to one request, strictly enough that its connection can be used again, but believes the status line whatever comes after
 * it: many receivers and proxies write headers or bodies that parsers refuse, although the receiver has processed the event.
 * Source: RFC 9112.
 */
export class AnswerReader {
  /** Known as soon as the status line is complete. */
  answer: Answer | null = null;
  /** Nothing more is read: the answer is complete, or what follows cannot be understood or is too much. */
  isDone = false;
  isComplete = false;
  /** How long the connection may be idle until the next request, in ms; 0 if it must not be used again. */
  reusableMs = 0;
  /** Whether the body ends where the connection does. */
  endsWithConnection = false;

  private expected: 'status line' | 'headers' | 'body' | 'chunk size' | 'chunk' | 'trailers' = 'status line';
  private text = '';
  private bytes = 0;
  private interimAnswers = 0;
  private isHttp11 = false;
  /** Whether every line so far was as the standard has it. */
  private isClean = true;
  private readonly headers: [name: string, value: string][] = [];
  /** Bytes until the end of the body or chunk. */
  private leftBytes = 0;

  /** @throws SendError `protocol_error` if there is no status line. */
  read(bytes: Buffer): void {
    this.bytes += bytes.length;
    this.text += bytes.toString('latin1');
    while (!this.isDone && this.step());
    if (!this.isDone && this.answer === null && this.bytes > MAX_START_BYTES) throw notHttp('NO_STATUS_LINE');
    if (this.isDone && this.text !== '') this.reusableMs = 0;
    if (!this.isDone && this.bytes > MAX_BYTES) this.spoil();
  }

  /** @returns whether there may be more to read in `text`. */
  private step(): boolean {
    if (this.endsWithConnection) {
      this.text = '';
      return false;
    }
    if (this.expected === 'body' || this.expected === 'chunk') return this.skipBody();
    const end = this.text.indexOf('\n');
    if (end === -1) {
      if (this.expected === 'status line' && !'HTTP/'.startsWith(this.text.trimStart().slice(0, 5)))
        throw notHttp('NO_STATUS_LINE');
      return false;
    }
    const hasReturn = this.text[end - 1] === '\r';
    const line = this.text.slice(0, hasReturn ? end - 1 : end);
    this.text = this.text.slice(end + 1);
    this.isClean &&= hasReturn;
    this.readLine(line);
    return true;
  }

  private readLine(line: string): void {
    if (this.expected === 'status line') this.readStatusLine(line);
    else if (this.expected === 'headers') this.readHeader(line);
    else if (this.expected === 'chunk size') this.readChunkSize(line);
    else if (line === '') this.complete();
  }

  private readStatusLine(line: string): void {
    // Some servers end the answer before this one with an empty line too many.
    if (line === '') return;
    const [, minor, digits] = statusLine.exec(line) ?? [];
    if (digits === undefined) throw notHttp('NO_STATUS_LINE');
    const status = Number(digits);
    if (status < 100 || status === 101) throw notHttp('STATUS_WITHOUT_ANSWER');
    if (status >= 200) {
      this.answer = { status, retryAfter: null };
      this.bytes = this.text.length;
    } else if (++this.interimAnswers > MAX_INTERIM_ANSWERS) throw notHttp('TOO_MANY_INTERIM_ANSWERS');
    this.isHttp11 = line.startsWith('HTTP/1.') && minor === '.1';
    this.expected = 'headers';
  }

  private readHeader(line: string): void {
    if (this.answer === null) {
      if (line === '') this.expected = 'status line';
      return;
    }
    if (line === '') {
      this.beginBody();
      return;
    }
    const [, name, value] = headerLine.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      this.isClean = false;
      return;
    }
    const header: [string, string] = [name.toLowerCase(), value.trimEnd()];
    this.headers.push(header);
    if (header[0] === 'retry-after') this.answer.retryAfter ??= header[1];
  }

  private valuesOf(asked: string): string[] {
    return this.headers.flatMap(([name, value]) => (name === asked ? [value] : []));
  }

  private beginBody(): void {
    const end = this.isClean ? this.endOfBody() : null;
    if (end === null) this.spoil();
    else if (end === 'connection') this.endsWithConnection = true;
    else if (end === 'chunks') this.expected = 'chunk size';
    else {
      this.leftBytes = end;
      this.expected = 'body';
    }
  }

  /** @returns the body's length, or what ends it; null where headers leave a doubt: nobody could tell the next answer from the body. */
  private endOfBody(): number | 'chunks' | 'connection' | null {
    const [lengths, encodings] = [this.valuesOf('content-length'), this.valuesOf('transfer-encoding')];
    const [length] = lengths;
    const [encoding] = encodings;
    if (lengths.length + encodings.length > 1) return null;
    if (this.answer?.status === 304 && encoding === undefined) return 0;
    if (this.answer?.status === 204) return encoding === undefined && (length ?? '0') === '0' ? 0 : null;
    if (length !== undefined) return /^\d{1,5}$/.test(length) && Number(length) <= MAX_BYTES ? Number(length) : null;
    if (encoding === undefined) return 'connection';
    return encoding.toLowerCase() === 'chunked' && this.isHttp11 ? 'chunks' : null;
  }

  /** @returns whether the body, or the chunk, is complete. */
  private skipBody(): boolean {
    const skipped = Math.min(this.leftBytes, this.text.length);
    this.text = this.text.slice(skipped);
    this.leftBytes -= skipped;
    if (this.leftBytes > 0) return false;
    if (this.expected === 'body') {
      this.complete();
      return true;
    }
    if (this.text.length < 2) return false;
    if (!this.text.startsWith('\r\n')) this.spoil();
    this.text = this.text.slice(2);
    this.expected = 'chunk size';
    return true;
  }

  private readChunkSize(line: string): void {
    const [, size] = chunkLine.exec(line) ?? [];
    if (size === undefined || !this.isClean) {
      this.spoil();
      return;
    }
    this.leftBytes = Number.parseInt(size, 16);
    this.expected = this.leftBytes === 0 ? 'trailers' : 'chunk';
  }

  private complete(): void {
    this.isDone = true;
    this.isComplete = true;
    this.reusableMs = this.isClean ? this.keepAliveMs() : 0;
  }

  private spoil(): void {
    this.isDone = true;
    this.text = '';
    this.reusableMs = 0;
  }

  private keepAliveMs(): number {
    if (!this.isHttp11 || this.valuesOf('connection').some((value) => /(^|,)\s*close\s*(,|$)/i.test(value))) return 0;
    const [, seconds] = /(?:^|,)\s*timeout\s*=\s*(\d{1,6})/i.exec(this.valuesOf('keep-alive').join(',')) ?? [];
    // The receiver may count from an earlier moment.
    return seconds === undefined ? IDLE_MS : Math.min(MAX_IDLE_MS, Math.max(0, Number(seconds) * 1000 - 1000));
  }
}

const notHttp = (code: string): SendError => new SendError('protocol_error', 'the answer is not HTTP', { code });
