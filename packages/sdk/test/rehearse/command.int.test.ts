import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inventPayment } from '../../src/rehearse/events.ts';
import { PAYMENTS_NEEDED, REHEARSAL_KEYS, type Report } from '../../src/rehearse/rehearse.ts';
import { listen, startReceiver } from './receiver.ts';

const program = fileURLToPath(new URL('../../src/rehearse/main.ts', import.meta.url));
const payments = Array.from({ length: PAYMENTS_NEEDED }, inventPayment);
const closers: (() => Promise<unknown>)[] = [];
let url: string;
let effectsUrl: string;
let paymentsFile: string;
let withoutTime: string;

beforeAll(async () => {
  const receiver = await startReceiver({}, payments);
  url = receiver.url;
  const effects = await listen(createServer((_, response) => response.end(JSON.stringify(receiver.shop.fulfilled))));
  effectsUrl = effects.url;
  const faulty = await startReceiver({ isRecent: () => true, keyOf: () => 'whsec_1' }, []);
  withoutTime = faulty.url;
  const folder = await mkdtemp(join(tmpdir(), 'quittance-rehearse-'));
  paymentsFile = join(folder, 'payments.json');
  await writeFile(paymentsFile, JSON.stringify(payments));
  closers.push(receiver.close, effects.close, faulty.close, () => rm(folder, { recursive: true }));
});
afterAll(async () => {
  for (const close of closers) await close();
});

/** The command's output and exit code. */
const run = (...words: string[]): Promise<{ code: unknown; out: string; errors: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], (error, out, errors) =>
      resolve({ code: error === null ? 0 : error.code, out, errors }),
    );
  });

test('a correct receiver: exit code 0, and the list of checks', async () => {
  const { code, out } = await run(url, '--timeout', '60');
  expect(code).toBe(0);
  expect(out).toContain(`"${REHEARSAL_KEYS[0].id}":"${REHEARSAL_KEYS[0].key}"`);
  expect(out).toMatch(/^ {2}ok {6}A wrong signature must be refused$/m);
  expect(out).toMatch(/^Not seen: .*--effects/m);
  expect(out).toMatch(/: \d+ ok, 0 fault, 0 advice, 7 unseen\. The slowest answer to a genuine event took \d+ ms\.\n$/);
});

test('with effects, payments and --json nothing is left unseen', async () => {
  const { code, out } = await run(
    url,
    '--effects',
    effectsUrl,
    '--payments',
    paymentsFile,
    '--json',
    '--timeout',
    '60',
  );
  const report = JSON.parse(out) as Report;
  expect(report.checks.filter(({ result }) => result !== 'ok')).toEqual([]);
  expect([code, report.ok]).toEqual([0, true]);
});

test('a fault: exit code 1, what was seen, why it matters, what to do', async () => {
  const { code, out } = await run(withoutTime, '--key', 'whk_1=whsec_1', '--timeout', '60');
  expect(code).toBe(1);
  const [, finding] = out.split(/^FAULT {2}A request that is more than 300 seconds old, or ahead, must be refused\n/m);
  expect(finding).toMatch(/^ {2}Seen {2}310 s old, 600 s ahead: answered 204\n {2}Why .*\n(.*\n)*? {2}Do /);
});

test('--help shows the keys', async () => {
  const { code, out } = await run('--help');
  expect(code).toBe(0);
  expect(out).toContain(REHEARSAL_KEYS[1].key);
});

test.each([
  [[], 'give one URL'],
  [['a', 'b'], 'give one URL'],
  [['localhost:3000'], 'not an http(s) URL'],
  [['http://localhost:1', '--what'], 'Unknown option'],
  [['http://localhost:1', '--key', 'whsec_1'], '<key_id>=<key>'],
  [['http://localhost:1', ...['1', '2', '3'].flatMap((id) => ['--key', `${id}=k`])], 'two keys at most'],
  [['http://localhost:1', '--timeout', 'soon'], 'a number of seconds'],
  [['http://localhost:1', '--timeout', '0'], 'a number of seconds'],
  [['http://localhost:1', '--effects', 'here'], 'not a URL'],
  [['http://localhost:1', '--effects', 'http://127.0.0.1:1'], 'does not tell effects'],
  [['http://localhost:1', '--payments', '/nowhere'], 'ENOENT'],
])('wrong usage %j: exit code 2, and why', async (words, why) => {
  const { code, out, errors } = await run(...words);
  expect([code, out]).toEqual([2, expect.not.stringContaining('ok')]);
  expect(errors).toContain(why);
});

test('effects that are not counts are refused', async () => {
  const { code, errors } = await run(url, '--effects', url);
  expect(code).toBe(2);
  expect(errors).toContain(`${url} does not tell effects: it answered 405`);
});

test('too few payments are refused', async () => {
  await writeFile(`${paymentsFile}.short`, JSON.stringify(payments.slice(1)));
  const { code, errors } = await run(url, '--payments', `${paymentsFile}.short`);
  expect(code).toBe(2);
  expect(errors).toContain(`${PAYMENTS_NEEDED} are needed`);
});

test('if a genuine event is not accepted, nothing else is reported', async () => {
  const { code, out } = await run(effectsUrl.replace(/:\d+/, ':1'));
  expect(code).toBe(1);
  expect(out).toContain('Seen  ECONNREFUSED');
  expect(out).toMatch(/\n\n27 checks: 0 ok, 1 fault, 0 advice, 26 unseen\.\n$/);
});
