import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { creationBlockReasons } from '@quittance/contracts/access.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { errorCodes } from '@quittance/contracts/error-code.ts';
import { paymentStatuses } from '@quittance/contracts/api/payment.ts';
import { merchantErrorCategories } from '@quittance/contracts/webhook.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createConfig, lint } from '@redocly/openapi-core';
import { parse } from 'yaml';
import { withComponents } from '../../packages/contracts/openapi.ts';
import { createGatewayApp, type GatewayParts } from '../../services/api-gateway/src/app.ts';
import { rateLimits } from '../../services/api-gateway/src/limits/admission.ts';
import {
  below,
  members,
  openApi,
  openApiFile,
  operations,
  problemOf,
  type Header,
  type Located,
  type Media,
  type Operation,
  type Parameter,
  type Response,
} from '../support/openapi/document.ts';

const api = operations('paths');
const events = operations('webhooks');
const all = [...api, ...events].map((operation) => [`${operation.method} ${operation.path}`, operation.at] as const);

describe('docs/openapi.yaml', () => {
  test('passes the linter without an error or a warning', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      rules: {
        // The rule would close every part of a composed schema separately. A test below looks for unlisted fields.
        'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
      },
    });
    const problems = await lint({ ref: openApiFile, config });
    const unexpected = problems.filter(({ ruleId, location }) => {
      const pointer = location[0]?.pointer ?? '';
      // The linter does not read extensions, which use these.
      return !(ruleId === 'no-unused-components' && usedOutsideOperations.includes(pointer));
    });
    expect(unexpected.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`)).toEqual(
      [],
    );
  });

  test('describes payments as packages/contracts/src/api defines them: `npm run openapi` writes it', () => {
    const yaml = readFileSync(openApiFile, 'utf8');
    expect(parse(withComponents(yaml))).toEqual(parse(yaml));
  });

  test('has the operations that the gateway routes below /api/v1, and no others', () => {
    const documented = api.map(({ method, path }) => `${method} ${path}`);
    expect(documented.length).toBeGreaterThan(12);
    expect(documented.sort()).toEqual(routesOfGateway());
  });

  test.each(all)('explains %s to a reader', (_, operation) => {
    const { operationId, summary, description, tags } = operation.node;
    for (const text of [operationId, summary, description]) expect(text).toMatch(/\w/);
    expect(tags).toHaveLength(1);
    for (const { node } of parametersOf(operation)) expect([node.name, node.example]).not.toContain(undefined);
  });

  test('has the common answers for every operation, and says what counts toward which limit', () => {
    for (const { at: operation } of api) {
      const { description, responses: answers, security } = operation.node;
      const common = ['413', '429', '503', ...(security?.length === 0 ? [] : ['401'])];
      expect(Object.keys(answers)).toEqual(expect.arrayContaining(common));
      expect(description).toMatch(/\*\*Counts\*\* (toward|by)/);
    }
  });

  test('has an example of each body, the request id and Cache-Control for every answer', () => {
    for (const response of responses()) {
      const headers = members<Header>(response, 'headers').map(([name]) => name);
      expect([response.pointer, ...headers]).toEqual(expect.arrayContaining(['X-Request-ID', 'Cache-Control']));
      const examples = members<Media>(response, 'content').map(([, media]) => members(media, 'examples').length);
      expect([response.pointer, Math.min(...examples)]).not.toContain(0);
      expect(examples).not.toEqual([]);
    }
  });

  test('has examples that fit their schemas', () => {
    const examples = [...bodyExamples(), ...parameterExamples(), ...headerExamples()];
    expect(examples.length).toBeGreaterThan(150);
    const problems = examples.map(({ where, schema, value }) => `${where}: ${problemOf(schema, value) ?? 'fits'}`);
    expect(problems.filter((text) => !text.endsWith(': fits'))).toEqual([]);
  });

  test('leaves answers and events open, so that clients accept later fields, and closes requests', () => {
    const { pointer: freelyNamed } = below('/components/schemas', 'Metadata');
    const closed = pointersTo(openApi, 'additionalProperties')
      .concat(pointersTo(openApi, 'unevaluatedProperties'))
      .filter((pointer) => pointer !== freelyNamed);
    const bodies = api.flatMap(({ at: { node, pointer } }) =>
      node.requestBody === undefined ? [] : [below(pointer, 'requestBody', 'content', 'application/json', 'schema')],
    );
    expect(closed.sort()).toEqual(bodies.map(({ pointer }) => pointer).sort());
    for (const { node } of bodies) expect(node).toHaveProperty('additionalProperties', false);
  });

  test('is still checked against its listed fields: an additional one, at any depth of any example, is reported', () => {
    const grown = bodyExamples().flatMap((example) =>
      withOneField(example.value).map((value) => ({ ...example, value, problem: problemOf(example.schema, value) })),
    );
    expect(grown.length).toBeGreaterThan(80);
    expect(grown.filter(({ problem }) => problem === null)).toEqual([]);
  });

  test.each([
    ['PaymentStatus', paymentStatuses],
    ['AccessCode', creationBlockReasons],
    ['ErrorCategory', merchantErrorCategories],
  ])('%s has the values of the code, in their order', (name, values) => {
    expect(below<{ enum: string[] }>('/components/schemas', name).node.enum).toEqual(values);
  });

  test.each([
    ['Creation', rateLimits.creation],
    ['Cancellation', rateLimits.cancellation],
    ['Reads', rateLimits.sharedReads],
    ['Webhook settings', rateLimits.webhookSettings],
    ['Manual retry', rateLimits.manualRetry],
    ['API key rotation', rateLimits.keyRotation],
    ['Public status', rateLimits.publicStatus],
  ])('the limit "%s" is the one in force', (name, { limit, windowSeconds }) => {
    expect(openApi.info.description).toContain(`| ${name} | ${limit} / ${windowSeconds} s |`);
  });

  test('has the bursts of the edge', () => {
    const edge = readFileSync(join(repositoryRoot, 'infra', 'nginx', 'edge.conf.template'), 'utf8');
    const burstsOf = (zone: string) =>
      [...edge.matchAll(new RegExp(`limit_req zone=edge_${zone} burst=(\\d+) nodelay;`, 'g'))].map(([, n]) =>
        Number(n),
      );
    const [api = 0, apiOnRotation = 0] = burstsOf('api');
    const [[status], [rotation = 0], [page]] = [burstsOf('status'), burstsOf('rotation'), burstsOf('page')];
    const { description } = openApi.info;
    for (const row of [
      `| 10 / s | ${api} (${apiOnRotation} on API key rotation) |`,
      `| 5 / s | ${status} |`,
      `| 1 / min | ${rotation} |`,
      `| 20 / s | ${page} |`,
    ]) {
      expect(description).toContain(row);
    }
    // The burst passes in addition to the one request that the rate allows.
    expect(description).toContain(`after a quiet time, ${api + 1} requests, or ${rotation + 1} key rotations.`);
    const numbers = ['one', 'two', 'three', 'four', 'five', 'six'];
    const { description: operation } = openApi.paths['/api/v1/merchant/rotate-key']!['post']!;
    expect(operation.replaceAll(/\s+/g, ' ')).toContain(`and ${numbers[rotation]} at once after a quiet time.`);
  });

  test('lists every error code', () => {
    const { ErrorCode, AccessCode } = openApi.components.schemas as Record<string, { enum: string[] }>;
    // These have their own schema with the code as a constant.
    const own = ['invalid_request', 'rate_limited', 'unavailable'];
    const documented = [...(ErrorCode?.enum ?? []), ...(AccessCode?.enum ?? []), ...own];
    expect(documented.sort()).toEqual(Object.values(errorCodes).flat().sort());
  });

  test('says about an internal error that the request may have taken effect, and about a 503 that it did not', () => {
    expect(openApi.info.description).toMatch(/\| 500 \| `internal_error` \| text \|[^|]*cannot be said \|/);
    expect(openApi.info.description).toMatch(/\| 503 \| `unavailable` \| text \|[^|]*nothing was stored or changed/);
  });

  test.each(['webhook endpoint', 'wallet', 'free amount', 'rate limits'])(
    'says that creation_allowed does not cover the %s, which a creation also needs',
    (needed) => {
      const limits = openApi.components.schemas['CreationLimits'] as {
        properties: Record<string, { description: string }>;
      };
      const [, notCovered] = limits.properties['creation_allowed']!.description.split('does not cover');
      expect(notCovered).toContain(needed);
    },
  );

  test.each([
    '0',
    '0.0',
    '0.000000',
    '0.000001',
    '0.10',
    '1',
    '01',
    '1.',
    '.1',
    '-1',
    '1e3',
    '1.0000001',
    '9'.repeat(12),
  ])('an Amount is what the code accepts as one: %s', (text) => {
    expect(problemOf('/components/schemas/Amount', text) === null).toBe(parseAmount(text) !== null);
  });

  test("the example signature verifies by the documented rules, with the example's headers and body", () => {
    const [event] = events;
    const { node, pointer } = event!.at;
    const line = (name: string): string => new RegExp(`^${name} +(.+)$`, 'm').exec(node.description)?.[1] ?? '';
    const [key, timestamp, body] = [line('signing key'), line('timestamp'), line('raw body')];
    const signature = `v1=${createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex')}`;
    expect(line('signature')).toBe(signature);

    const headers = new Map(parametersOf(event!.at).map((parameter) => [parameter.node.name, parameter.node.example]));
    expect(headers.get('X-Service-Signature')).toBe(signature);
    const decoded = Buffer.from(key.slice('whsec_'.length), 'base64');
    const id = String(headers.get('webhook-id'));
    const standard = createHmac('sha256', decoded).update(`${id}.${timestamp}.${body}`).digest('base64');
    expect([line('standard'), headers.get('webhook-signature')]).toEqual([`v1,${standard}`, `v1,${standard}`]);
    expect(headers.get('webhook-timestamp')).toBe(timestamp);
    expect(headers.get('X-Service-Timestamp')).toBe(timestamp);
    const example = below<{ value: { event_id: string } }>(
      `${pointer}/requestBody/content/application~1json/examples/paid`,
    ).node.value;
    expect(JSON.parse(body)).toEqual(example);
    expect([headers.get('X-Service-Event-ID'), id]).toEqual([example.event_id, example.event_id]);
  });
});

const usedOutsideOperations = Object.values(openApi['x-outside-operations']).map(
  (reference) => (reference as { $ref: string }).$ref,
);

/** The parts do nothing here: only the list of routes is read. */
function routesOfGateway(): string[] {
  const metrics = createMetrics({ service: 'api-gateway', processMetrics: false });
  const nothing = { upstreams: {}, networks: [], optionRules: {}, passkeysFor: [] };
  const parts = { logger: testLogger, metrics, trust: sharedTrust(), ...nothing };
  const app = createGatewayApp(parts as unknown as GatewayParts);
  type Layer = { route?: { path: string; methods: Record<string, boolean> } };
  return (app.router.stack as unknown as Layer[])
    .flatMap(({ route }) => {
      const methods = Object.keys(route?.methods ?? {});
      // A layer for every existing method only answers 405.
      return route !== undefined && methods.length === 1 ? [{ method: String(methods[0]), path: route.path }] : [];
    })
    .filter(({ path }) => path.startsWith('/api/v1/'))
    .map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    .sort();
}

/** Every response: of the operations, and those that any request can get. */
function responses(): Located<Response>[] {
  const found = [
    ...api.flatMap((operation) => members<Response>(operation.at, 'responses')),
    ...members<Response>({ pointer: '', node: openApi }, 'x-outside-operations'),
  ];
  return [...new Map(found.map(([, response]) => [response.pointer, response])).values()];
}

const parametersOf = (operation: Located<Operation>): Located<Parameter>[] =>
  members<Parameter>(operation, 'parameters').map(([, parameter]) => parameter);

/** Places in the document where an object has this keyword. */
function pointersTo(node: unknown, keyword: string, pointer = ''): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const here = keyword in node ? [pointer] : [];
  const inside = Object.entries(node).flatMap(([name, child]) =>
    pointersTo(child, keyword, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
  return [...here, ...inside];
}

/** Copies of a value, each with an additional field in one of the objects whose fields we define. */
function withOneField(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const ours = Object.entries(value).filter(([name]) => !['metadata', 'paid_prices'].includes(name));
  const inside = ours.flatMap(([name, child]) =>
    withOneField(child).map((grown) =>
      Array.isArray(value) ? value.with(Number(name), grown) : { ...value, [name]: grown },
    ),
  );
  return Array.isArray(value) ? inside : [{ ...value, added_later: 'x' }, ...inside];
}

type Example = { where: string; schema: string; value: unknown };

function bodyExamples(): Example[] {
  const bodies = [...api, ...events].flatMap(({ at: { node, pointer } }) =>
    node.requestBody === undefined ? [] : [below<Response>(pointer, 'requestBody')],
  );
  return [...responses(), ...bodies].flatMap((body) =>
    members<Media>(body, 'content').flatMap(([, media]) =>
      members<{ value: unknown }>(media, 'examples').map(([, { pointer, node }]) => ({
        where: pointer,
        schema: below(media.pointer, 'schema').pointer,
        value: node.value,
      })),
    ),
  );
}

const parameterExamples = (): Example[] =>
  all.flatMap(([, operation]) => parametersOf(operation)).map((parameter) => valueAt(parameter));

const headerExamples = (): Example[] =>
  responses().flatMap((response) => members<Header>(response, 'headers').map(([, header]) => valueAt(header)));

const valueAt = ({ pointer, node }: Located<Parameter | Header>): Example => ({
  where: pointer,
  schema: below(pointer, 'schema').pointer,
  value: node.example,
});
