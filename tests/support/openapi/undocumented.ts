import type { HttpAnswer } from '../http.ts';
import {
  below,
  members,
  openApi,
  operations,
  problemOf,
  type Header,
  type Located,
  type Media,
  type Response,
} from './document.ts';
import { repeatedNames } from './repeated-names.ts';

/**
 * What in an answer the OpenAPI document does not allow for this request.
 * @param path below the base URL, with its query; it identifies the operation.
 * @returns one sentence for each problem, none when the answer is as documented.
 */
export function undocumented(method: string, path: string, answer: HttpAnswer): string[] {
  const pathname = path.replace(/[?#].*$/s, '');
  if (isPage(pathname)) return [];
  const common = pathname.startsWith('/api/v1/') ? apiHeaderProblems(answer) : [];
  const allowed = documentedFor(method, pathname, answer.status);
  if (allowed.length === 0) return [...common, `the status ${answer.status} is not documented here`];
  const found = allowed.map((response) => responseProblems(method, response, answer));
  // The answer may be one that any request can get, but the first, the operation's own, is the expected one.
  const own = found.some((problems) => problems.length === 0) ? [] : (found[0] ?? []);
  return [...common, ...own, ...allowProblems(method, pathname, answer)];
}

/** Pages and their files are for people, and not part of the API. */
const isPage = (pathname: string): boolean => /^\/(?:pay\/|assets\/|docs(?:\/|$)|openapi\.json$)/.test(pathname);

type Template = {
  pattern: RegExp;
  /** Static segments take precedence over parameters, from the left: they sort first. */
  rank: string;
  parameters: number;
  responses: Map<string, Map<number, Located<Response>>>;
};

const templates: Template[] = Object.keys(openApi.paths)
  .map((path) => {
    const segments = path.split('/');
    const ofPath = operations('paths').filter((operation) => operation.path === path);
    return {
      pattern: new RegExp(`^${segments.map((part) => (isParameter(part) ? '[^/]+' : part)).join('/')}$`),
      rank: segments.map((part) => (isParameter(part) ? '1' : '0')).join(''),
      parameters: segments.filter(isParameter).length,
      responses: new Map(ofPath.map((operation) => [operation.method, byStatus(operation.at)])),
    };
  })
  .sort((one, other) => one.rank.localeCompare(other.rank));

/** Answers that any request can get. */
const outside = byStatus({ pointer: '', node: { responses: openApi['x-outside-operations'] } }, 'x-outside-operations');

function byStatus(parent: Located<object>, name = 'responses'): Map<number, Located<Response>> {
  const node = name === 'responses' ? parent.node : openApi;
  return new Map(members<Response>({ pointer: parent.pointer, node }, name).map(([code, at]) => [Number(code), at]));
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

/** The documented responses with this status, the operation's own first. */
function documentedFor(method: string, pathname: string, status: number): Located<Response>[] {
  const matching = templates.filter(({ pattern }) => pattern.test(pathname));
  const sought = method === 'HEAD' ? 'GET' : method;
  const template = matching.find(({ responses }) => responses.has(sought));
  const general = outside.get(status);
  const isPossible =
    status === 404
      ? // A parameter can produce the path of another operation, or of none.
        matching.length === 0 || (template?.parameters ?? 0) > 0
      : status !== 405 || (template === undefined && (matching.length > 0 || isRefusedAtEdge(method)));
  const own = template?.responses.get(sought)?.get(status);
  return [own, isPossible ? general : undefined].filter((response) => response !== undefined);
}

function responseProblems(method: string, response: Located<Response>, answer: HttpAnswer): string[] {
  return [
    ...documentedHeaderProblems(response, answer),
    ...undocumentedHeaderProblems(response, answer),
    ...retryAfterProblems(method, answer),
    ...bodyProblems(method, response, answer),
  ];
}

function bodyProblems(method: string, response: Located<Response>, { headers, text }: HttpAnswer): string[] {
  const type = (headers['content-type'] ?? '').replace(/; ?charset=utf-8$/i, '').toLowerCase();
  const media = members<Media>(response, 'content').find(([name]) => name === type)?.[1];
  if (media === undefined) return [`the content type "${type}" is not documented here`];
  if (method === 'HEAD') return text === '' ? [] : ['the answer to a HEAD has a body'];
  if (type !== 'application/json')
    return problemsOf('the body', problemOf(below(media.pointer, 'schema').pointer, text));
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return ['the body is not JSON'];
  }
  const repeated = repeatedNames(text).map((name) => `the body has the field "${name}" more than once`);
  return [...repeated, ...problemsOf('the body', problemOf(below(media.pointer, 'schema').pointer, body))];
}

function documentedHeaderProblems(response: Located<Response>, answer: HttpAnswer): string[] {
  return members<Header>(response, 'headers').flatMap(([name, { pointer, node }]) => {
    const values = valuesOf(answer, name);
    const [value] = values;
    if (value === undefined) return node.required === true ? [`the header ${name} is missing`] : [];
    if (values.length > 1) return [`the header ${name} occurs ${values.length} times`];
    const schema = below(pointer, 'schema').pointer;
    const problem = problemOf(schema, value);
    // A header is text; its digits count as a documented number.
    const isNumber = problem !== null && /^\d+$/.test(value) && problemOf(schema, Number(value)) === null;
    return isNumber ? [] : problemsOf(`the header ${name} "${value}"`, problem);
  });
}

/** Headers that HTTP, connections and proxies add, without a meaning of ours. */
const generalHeaders = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'server',
  'strict-transport-security',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
]);

function undocumentedHeaderProblems(response: Located<Response>, { headers }: HttpAnswer): string[] {
  const documented = new Set(members(response, 'headers').map(([name]) => name.toLowerCase()));
  return Object.keys(headers)
    .filter((name) => !documented.has(name) && !generalHeaders.has(name))
    .map((name) => `the header ${name} is not documented here`);
}

/** Edge and application may both refuse with 429. The application always says when to retry, the edge never does. */
function retryAfterProblems(method: string, { status, headers, text }: HttpAnswer): string[] {
  if (status !== 429 || method === 'HEAD') return [];
  const isApplication = text === '{"detail":"Rate limit exceeded","code":"rate_limited"}';
  const isThere = headers['retry-after'] !== undefined;
  if (isApplication === isThere) return [];
  return [isApplication ? 'the header Retry-After is missing' : "the edge's answer has a Retry-After"];
}

/** The edge never forwards these methods, whatever the path. */
const isRefusedAtEdge = (method: string): boolean => method === 'TRACE' || method === 'CONNECT';

/** The answer to a refused method names the methods that the path accepts. */
function allowProblems(method: string, pathname: string, { status, headers }: HttpAnswer): string[] {
  if (status !== 405 || isRefusedAtEdge(method)) return [];
  const methods = templates
    .filter(({ pattern }) => pattern.test(pathname))
    .flatMap(({ responses }) => [...responses.keys()])
    .flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
  const expected = [...new Set(methods)].sort().join(', ');
  const allow = (headers.allow ?? '').split(', ').sort().join(', ');
  return allow === expected ? [] : [`the header Allow names ${allow} instead of ${expected}`];
}

function apiHeaderProblems({ headers }: HttpAnswer): string[] {
  return [
    ...(headers['set-cookie'] === undefined ? [] : ['the API sets a cookie']),
    ...Object.keys(headers)
      .filter((name) => name.startsWith('access-control-'))
      .map((name) => `the API has the CORS header ${name}`),
  ];
}

function valuesOf({ rawHeaders }: HttpAnswer, name: string): string[] {
  return rawHeaders.filter(
    (_, position) => position % 2 === 1 && rawHeaders[position - 1]?.toLowerCase() === name.toLowerCase(),
  );
}

const problemsOf = (subject: string, problem: string | null): string[] =>
  problem === null ? [] : [`${subject}: ${problem}`];
