import { AsyncLocalStorage } from 'node:async_hooks';
import { pino } from 'pino';

import { rfc3339 } from './time.ts';
import { traceFields } from './tracing/tracing.ts';

export type Logger = pino.Logger;
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * JSON lines on stdout: `time`, `level`, `service`, `request_id` (inside a request or a message), `trace_id`, `span_id`
 * and `trace_flags` (inside a span), the caller's fields, `msg`.
 * Writes are synchronous, so that the last line before a crash is not lost.
 * @param destination replaces stdout in tests.
 */
export function createLogger(
  { service, level }: { service: string; level: LogLevel },
  destination?: pino.DestinationStream,
): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    timestamp: () => `,"time":"${rfc3339(new Date())}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: pino.stdSerializers.err, err: pino.stdSerializers.err },
    mixin: () => {
      const requestId = currentRequestId();
      return requestId === undefined ? { ...traceFields() } : { request_id: requestId, ...traceFields() };
    },
    hooks: { streamWrite: (line) => shorten(redactSecrets(line)) },
  };
  return destination ? pino(options, destination) : pino(options, pino.destination({ fd: 1, sync: true }));
}

const requests = new AsyncLocalStorage<string>();

/** Runs `fn`; every log line, outgoing call and message it causes carries `id`. */
export function withRequestId<T>(id: string, fn: () => T): T {
  return requests.run(id, fn);
}

/** The id of the current request or message, from anywhere in its call tree. */
export function currentRequestId(): string | undefined {
  return requests.getStore();
}

/** A JSON member whose name ends in one of these words; its value is a string, never an object. */
const secretMember =
  /"([\w-]*(?:api[-_]?key|secret(?:[-_]?key)?|signing[-_]?key|encryption[-_]?key|private[-_]?key|internal[-_]?token|operator[-_]?token|password|authorization|cookie))":"(?:[^"\\]|\\.)*"/gi;
const urlPassword = /(:\/\/[^\s:/?#@"\\]*:)[^\s/?#@"\\]*@/g;
/** Keys of wallets' accounts, private and public: `xprv…`, `xpub…`, and those of other coins. */
const extendedKey = /([A-Za-z](?:prv|pub))[1-9A-HJ-NP-Za-km-z]{100,}/g;
/** In base64url, and webhook signing keys also in standard base64. */
const ourCredential = /\b(qk|qr|qo|qm|qs|ql|whsec)_[A-Za-z0-9+/_-]{43}=?/g;

/**
 * Removes secrets from a finished log line, so that no field, error text or child logger can leak one: members with a
 * name like a secret's, passwords inside URLs, extended keys of wallets, and anything shaped like one of our credentials. Each regular
 * expression runs in time linear in the line's length.
 */
export function redactSecrets(line: string): string {
  return line
    .replace(secretMember, '"$1":"[redacted]"')
    .replace(urlPassword, '$1[redacted]@')
    .replace(extendedKey, '$1[redacted]')
    .replace(ourCredential, '$1_[redacted]');
}

/** Ordinary lines are far shorter than the line limit, and stack traces are shorter than the text limit. */
const MAX_LINE_CHARACTERS = 16_384;
const MAX_TEXT_CHARACTERS = 4_096;

/**
 * Limits the length of a finished log line, because texts may come from outside. First long texts are cut; a cut text
 * ends with its original number of characters. If that isn't enough, only the fields that every line has remain.
 * Secrets are removed before this, so a cut can't hide part of one.
 */
export function shorten(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  const cut = (_key: string, value: unknown): unknown =>
    typeof value === 'string' && value.length > MAX_TEXT_CHARACTERS
      ? `${value.slice(0, MAX_TEXT_CHARACTERS)}… (${value.length} characters)`
      : value;
  const fields = JSON.parse(line) as Record<string, unknown>;
  const shortened = JSON.stringify(fields, cut);
  if (shortened.length <= MAX_LINE_CHARACTERS) return `${shortened}\n`;
  const { level, time, service, request_id, trace_id, span_id, trace_flags, msg } = fields;
  const rest = { level, time, service, request_id, trace_id, span_id, trace_flags, left_out: line.length, msg };
  return `${JSON.stringify(rest, cut)}\n`;
}
