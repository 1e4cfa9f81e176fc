import type { HttpAnswer } from '../http.ts';
import { undocumented } from '../openapi/undocumented.ts';
import { codeProblems } from '../error-codes.ts';

/** Parts of programs, of their errors and of our internals, which no client needs. */
const innards =
  /node_modules|node:internal|\.[jt]s:\d|\n\s+at |\b[A-Z][a-z]+Error\b|\b(ECONN\w+|E[A-Z]+_[A-Z]+)\b|errno|syscall|[Pp]ostgres|\bpg_|relation "|SQLSTATE|amqp|[Rr]abbit|[Ee]xpress\b|[Ii]nternal token|internal\/v1|stack trace/;

const jsonType = /^application\/json\b/;

/**
 * What is wrong with the answer to a hostile request. Right is: no 5xx, nothing outside the OpenAPI document, no internals, one request id,
 * and JSON or a page.
 * CONNECT is documented with TRACE: no path accepts either.
 * @param secrets texts that no answer may repeat.
 */
export function problemsOf(method: string, path: string, answer: HttpAnswer, secrets: readonly string[]): string[] {
  const { status, rawHeaders, headers, text } = answer;
  const problems: string[] = [];
  if (status >= 500) problems.push('is a server error');
  problems.push(...undocumented(method === 'CONNECT' ? 'TRACE' : method, documentedPath(path, status), answer));
  const ids = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'x-request-id');
  if (ids.length !== 1) problems.push(`has ${ids.length} request ids`);
  const type = headers['content-type'] ?? '';
  if (jsonType.test(type)) problems.push(...jsonProblems(method, answer));
  else if (status >= 400 && !(status === 429 || path.startsWith('/pay/')))
    problems.push(`is an error of type "${type}"`);
  const said = `${rawHeaders.join('\n')}\n${text}`;
  const leak = (jsonType.test(type) ? innards.exec(said) : null)?.[0];
  if (leak !== undefined) problems.push(`shows internals: ${leak}`);
  if (secrets.some((secret) => said.includes(secret))) problems.push('repeats a secret');
  return problems;
}

/** Characters that need no escape. Another spelling may not be a documented path, whatever it looks like. */
const plainPath = /^[\w\-.~/]*(?:\?|$)/;

/** Spaces between the path and the version are not part of the path. */
function documentedPath(target: string, status: number): string {
  const path = target.trimEnd();
  return status === 404 && path.startsWith('/api/') && !plainPath.test(path) ? '/nothing' : path;
}

function jsonProblems(method: string, answer: HttpAnswer): string[] {
  if (method === 'HEAD') return answer.text === '' ? [] : ['is an answer to HEAD with a body'];
  try {
    const body = answer.json<{ detail?: unknown }>();
    if (answer.status >= 400 && body.detail === undefined) return ['is an error without detail'];
    return codeProblems(answer);
  } catch {
    return ['has the content type of JSON, but is not JSON'];
  }
}
