import { isObject, type Json } from './target.ts';

/** A request: what is in braces, such as {{key}}, is filled in when it is sent, so that it means something on every system. */
export type EdgeInput = { method: string; path: string; headers: [string, string][]; body: Json };

export const isEdgeInput = (input: Json): input is EdgeInput & { [name: string]: Json } =>
  isObject(input) &&
  typeof input['method'] === 'string' &&
  typeof input['path'] === 'string' &&
  Array.isArray(input['headers']) &&
  input['headers'].every((header) => Array.isArray(header) && header.length === 2 && header.every(isText));

const isText = (value: Json): boolean => typeof value === 'string';

/** What frames a request is decided here: two requests in one, or half of one, are what `npm run attacks -- smuggling` is about. */
const FRAMING = /^(content-length|transfer-encoding|connection|expect|upgrade|http2-settings|host|te|trailer)$/i;

/**
 * The bytes of the request, framed as it should be.
 * @param filled the texts that stand for the names in braces.
 */
export function requestBytes(
  input: EdgeInput,
  filled: Record<string, string>,
): { bytes: Buffer; method: string; path: string } {
  const fill = (text: string): string => text.replaceAll(/\{\{(\w+)\}\}/g, (all, name: string) => filled[name] ?? all);
  const method = input.method.replaceAll(/[^!-~]/g, '') || 'GET';
  const path = fill(input.path).replaceAll(/[\r\n ]/g, '') || '/';
  const body = bodyText(input.body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: pay.example.com',
    ...input.headers
      .filter(([name]) => !FRAMING.test(name.trim()))
      .map(([name, value]) => `${oneLine(name)}: ${oneLine(fill(value))}`),
    ...(body === null ? [] : [`Content-Length: ${Buffer.byteLength(fill(body))}`]),
    'Connection: close',
  ];
  const text = `${lines.join('\r\n')}\r\n\r\n${body === null ? '' : fill(body)}`;
  return { bytes: Buffer.from(text), method, path };
}

const oneLine = (text: string): string => text.replaceAll(/[\r\n]/g, '');

/** A text goes as it is, anything else as JSON; null is no body. */
const bodyText = (body: Json | undefined): string | null =>
  body === null || body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
