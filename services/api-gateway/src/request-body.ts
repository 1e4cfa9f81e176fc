import type { IncomingHttpHeaders } from 'node:http';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { parseJsonObject } from '@quittance/http/server/body.ts';
import { HttpError, invalid, type ValidationItem } from '@quittance/http/errors.ts';

export type JsonObject = Record<string, unknown>;

/** A response lists at most this many invalid fields. */
export const PROBLEMS_MAX = 100;

const FIELD_MAX_CHARACTERS = 100;

/** A field name that the client chose, shortened for a response. */
export const fieldName = (name: string): string => name.slice(0, FIELD_MAX_CHARACTERS).toWellFormed();

/** A parsed body, or null. The problems name the reason, or the fields that are given twice. */
type JsonBody = { value: JsonObject | null; problems: ValidationItem[] };

/** Strings, and the punctuation that shows which of them are keys. Linear: reads each character once. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/**
 * Reads a request's body as one JSON object.
 * Problems of the field `body` are a wrong content type, a compressed body, invalid UTF-8 or JSON, and a value that is not an object.
 * A field that is given more than once is a problem too, because parsers disagree which one counts.
 * @throws HttpError 413 for a body over the limit.
 */
export async function readJsonBody(request: RouteRequest): Promise<JsonBody> {
  const bytes = await readBody(request);
  const refusal = refusedHeaders(request.headers);
  if (refusal !== null) return unreadable(refusal);
  const parsed = parseJsonObject(bytes);
  if ('reason' in parsed) return unreadable(parsed.reason);
  const repeated = repeatedKeys(parsed.text).slice(0, PROBLEMS_MAX);
  return {
    value: parsed.value,
    problems: repeated.map((key) => ({ field: fieldName(key), reason: 'is given more than once' })),
  };
}

/** @throws HttpError 413, or 422 with every problem that `check` or the parser finds. */
export async function readValidJson(
  request: RouteRequest,
  check: (value: JsonObject) => ValidationItem[],
): Promise<JsonObject> {
  const { value, problems } = await readJsonBody(request);
  const found = [...problems, ...(value === null ? [] : check(value))];
  if (value === null || found.length > 0) throw invalid(...found);
  return value;
}

const unreadable = (reason: string): JsonBody => ({ value: null, problems: [{ field: 'body', reason }] });

function refusedHeaders(headers: IncomingHttpHeaders): string | null {
  // Whatever its parameters say, the body must be UTF-8: RFC 8259, section 8.1.
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json') return 'must be sent with Content-Type application/json';
  const isCompressed = (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';
  return isCompressed ? 'must be sent without a Content-Encoding' : null;
}

/** Fields of the outer object of a valid JSON text that are given twice, or whose own object has a name twice. */
function repeatedKeys(text: string): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  let depth = 0;
  let lastString = '""';
  let field = '';
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token !== ':') lastString = token;
    else if (depth <= 2) {
      const key = JSON.parse(lastString) as string;
      if (depth === 1) field = key;
      const path = JSON.stringify(depth === 1 ? [key] : [field, key]);
      if (seen.has(path)) repeated.add(field);
      seen.add(path);
    }
  }
  return [...repeated];
}

/** For every endpoint. Source: the API contract, "Size and list limits". */
const BODY_MAX_BYTES = 64 * 1024;

export const bodyTooLarge = (): HttpError => new HttpError(413, 'Request body exceeds 64 KiB');

/** @throws HttpError 413 for a longer body, whether or not its length is declared. */
async function readBody(request: RouteRequest): Promise<Buffer> {
  const { bytes, tooLarge } = await request.readBody(BODY_MAX_BYTES);
  if (tooLarge) throw bodyTooLarge();
  return bytes;
}

/** For endpoints without a body: a body that is sent is limited too, and ignored. */
export async function refuseLargeBody(request: RouteRequest): Promise<void> {
  await readBody(request);
}

/** As refuseLargeBody(), and then reads the rest of the request. */
export function bodiless<Input>(read: (request: RouteRequest) => Input): (request: RouteRequest) => Promise<Input> {
  return async (request) => {
    await refuseLargeBody(request);
    return read(request);
  };
}

export async function hasLargeBody(request: RouteRequest): Promise<boolean> {
  return (await request.readBody(BODY_MAX_BYTES)).tooLarge;
}
