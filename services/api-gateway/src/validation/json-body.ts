import type { IncomingHttpHeaders } from 'node:http';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { parseJsonObject } from '@quittance/http/server/body.ts';
import { invalid, type ValidationItem } from '@quittance/http/errors.ts';
import { readBody } from './body-limit.ts';

export type JsonObject = Record<string, unknown>;

/** A response lists at most this many invalid fields. */
export const PROBLEMS_MAX = 100;

const FIELD_MAX_CHARACTERS = 100;

/** The name of a field that the caller made up, shortened for a response. */
export const fieldName = (name: string): string => name.slice(0, FIELD_MAX_CHARACTERS).toWellFormed();

/** A parsed body: null with the reason, or the object with the fields that are given twice. */
export type JsonBody = { value: JsonObject | null; problems: ValidationItem[] };

/** Strings and the punctuation that decides which of them are keys. Linear: reads every character once. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/**
 * Reads a request's body as one JSON object.
 * Problems are on the field `body`: another content type, a compressed body, broken UTF-8 or JSON, a value that is no object;
 * or on a field that is given more than once, since readers disagree which one counts.
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

/** @throws HttpError 413, or 422 with every field that `check` or the JSON itself faults. */
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
  const [type, ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const isJson = type?.trim() === 'application/json';
  if (!isJson || !parameters.every((parameter) => /^(charset="?utf-8"?)?$/.test(parameter.trim()))) {
    return 'must be sent with Content-Type application/json';
  }
  const isCompressed = (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';
  return isCompressed ? 'must be sent without a Content-Encoding' : null;
}

/** Fields of the outer object that stand in a valid JSON text more than once, or hold an object in which a name does. */
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
