import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { Reply } from '@quittance/http/server/route.ts';
import { parse } from 'yaml';
import { readOpenApi } from '../src/docs/document.ts';
import { docsRoutes } from '../src/routes/docs.ts';
import { fakeRequest, refusal } from './fake-request.ts';

const file = fileURLToPath(new URL('../../../docs/openapi.yaml', import.meta.url));
const document = parse(readFileSync(file, 'utf8')) as { paths: Record<string, Record<string, unknown>> };
const routes = docsRoutes();

async function get(path: string, { name, headers = {} }: { name?: string; headers?: Record<string, string> } = {}) {
  const route = routes.find((candidate) => candidate.method === 'GET' && candidate.path === path);
  const request = { ...fakeRequest({ headers }), params: name === undefined ? {} : { name } };
  return (await route!.handle(request)) as Reply & { body: Buffer; headers: Record<string, string> };
}

describe('GET /openapi.json', () => {
  test('is docs/openapi.yaml, for tools on any site, and may be kept for a while', async () => {
    const { status, body, headers } = await get('/openapi.json');
    expect(status).toBe(200);
    expect(JSON.parse(body.toString())).toEqual(document);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=300',
    });
  });

  test.each([
    ['gzip, deflate, br', true],
    ['br;q=1.0, gzip;q=0.8', true],
    ['gzip;q=0', false],
    ['deflate, gzip; q=0.0, br', false],
    ['identity', false],
    ['', false],
  ])('to "%s" it goes out compressed: %s', async (accepted, isCompressed) => {
    const { body, headers } = await get('/openapi.json', { headers: { 'accept-encoding': accepted } });
    expect(headers['vary']).toBe('accept-encoding');
    expect(headers['content-encoding']).toBe(isCompressed ? 'gzip' : undefined);
    expect(JSON.parse((isCompressed ? gunzipSync(body) : body).toString())).toEqual(document);
  });
});

describe('GET /docs', () => {
  test('loads only files of this server, each of which it has, for ever', async () => {
    const { body } = await get('/docs');
    const names = [...body.toString().matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, url = '']) => url);
    const files = names.filter((url) => url.startsWith('/docs/assets/'));
    expect(names.filter((url) => !files.includes(url) && !['/openapi.json', 'data:,'].includes(url))).toEqual([]);
    expect(files).toHaveLength(4);
    for (const url of files) {
      const asset = await get('/docs/assets/:name', { name: url.slice('/docs/assets/'.length) });
      expect(asset.status).toBe(200);
      expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(asset.headers['content-type']).toMatch(url.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
      expect(asset.body.length).toBeGreaterThan(100);
    }
  });

  test('runs no script but those files, cannot be framed, and sends nothing anywhere else', async () => {
    const { headers, body } = await get('/docs');
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]),
    );
    expect(policy.join()).not.toMatch(/unsafe|http|\*/);
    expect(body.toString()).not.toMatch(/<script(?! src)|<style|style=|\son\w+=/);
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  test('lists every operation for those who have no script, beside the way to the whole document', async () => {
    const text = (await get('/docs')).body.toString();
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const method of Object.keys(methods)) expect(text).toContain(`${method.toUpperCase()} ${path}<`);
    }
    expect(/<noscript>.*<\/noscript>/s.exec(text)?.[0]).toContain('href="/openapi.json"');
  });

  test('offers nothing to send requests or credentials with', async () => {
    const text = (await get('/docs')).body.toString();
    const name = /docs\/assets\/(docs\.[0-9a-f]{16}\.js)/.exec(text)?.[1];
    const script = (await get('/docs/assets/:name', { name: name! })).body.toString();
    expect(script).toContain('supportedSubmitMethods: []');
    expect(script).toContain('validatorUrl: null');
    for (const hidden of ['authorizeBtn', 'authorizeOperationBtn']) expect(script).toContain(`${hidden}: nothing`);
  });

  test('an asset of another release is 404', async () => {
    const error = await refusal(() => get('/docs/assets/:name', { name: 'docs.0123456789abcdef.js' }));
    expect(error.status).toBe(404);
  });
});

test('a missing document stops the start, by its name', () => {
  expect(() => readOpenApi('/nowhere/openapi.yaml')).toThrow(
    /The OpenAPI document \/nowhere\/openapi\.yaml cannot be read: .*ENOENT/,
  );
});
