import { describe, expect, test } from '@jest/globals';

import { createLogger, currentRequestId, redactSecrets, withRequestId } from '../src/logger.ts';

/** Runs `write` with a logger and returns its raw lines. */
function linesOf(write: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  write(createLogger({ service: 'shop', level: 'info' }, { write: (line) => void lines.push(line) }));
  return lines;
}

const token = 'Ab-_'.repeat(10) + 'xyz';
const standardToken = 'Ab+/'.repeat(10) + 'xyw=';

describe('log lines', () => {
  test('each is one JSON object with time, level, service and message', () => {
    const [line] = linesOf((logger) => logger.info({ payment_id: 'pay_1' }, 'created'));
    expect(JSON.parse(line ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: 'shop',
      payment_id: 'pay_1',
      msg: 'created',
    });
    expect(line?.trimEnd()).not.toContain('\n');
  });

  test('they carry the request id everywhere in the request, and none outside of it', async () => {
    const lines: string[] = [];
    const logger = createLogger({ service: 'shop', level: 'info' }, { write: (line) => void lines.push(line) });
    const later = async () => {
      await Promise.resolve();
      logger.info('inside');
    };
    await Promise.all([withRequestId('one', later), withRequestId('two', later)]);
    logger.info('outside');
    expect(lines.map((line) => (JSON.parse(line) as { request_id?: string }).request_id)).toEqual([
      'one',
      'two',
      undefined,
    ]);
    expect(currentRequestId()).toBeUndefined();
  });

  test('an error has its stack and cause', () => {
    const [line] = linesOf((logger) =>
      logger.error({ error: new Error('outer', { cause: new Error('inner') }) }, 'bad'),
    );
    const { error } = JSON.parse(line ?? '') as { error: { type: string; stack: string } };
    expect(error.type).toBe('Error');
    expect(error.stack).toMatch(/outer[\s\S]*inner/);
  });
});

describe('the length of a log line is limited', () => {
  const long = 'é'.repeat(1_000_000);

  test.each<[string, object]>([
    ['a text', { text: long }],
    ['a nested text', { a: [{ b: { text: long } }] }],
    ['an error with what it read', { error: Object.assign(new Error(long), { data: long, cause: new Error(long) }) }],
    ['many texts', { texts: Array.from({ length: 10_000 }, () => 'x'.repeat(100)) }],
    ['many names', Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`name${n}`, n]))],
  ])('not %s', (_what, fields) => {
    const [line] = linesOf((logger) => withRequestId('one', () => logger.info(fields, 'happened')));
    expect(line!.length).toBeLessThan(17_000);
    expect(line!.endsWith('}\n')).toBe(true);
    expect(JSON.parse(line!)).toMatchObject({ level: 'info', service: 'shop', request_id: 'one', msg: 'happened' });
  });

  test('a long text keeps its beginning, and the other fields remain', () => {
    const [line] = linesOf((logger) => logger.info({ text: long, payment_id: 'pay_1' }, long));
    const fields = JSON.parse(line!) as { text: string; payment_id: string; msg: string };
    expect(fields.payment_id).toBe('pay_1');
    expect(fields.text).toBe(`${long.slice(0, 4_096)}… (1000000 characters)`);
    expect(fields.msg).toBe(fields.text);
  });

  test('no part of a secret remains at a cut', () => {
    const [line] = linesOf((logger) => logger.info({ text: `${'x'.repeat(4_079)} whsec_${token}${long}` }, 'text'));
    expect(line).not.toContain(token.slice(0, 8));
  });
});

describe('secrets never reach a log line', () => {
  const credentials = ['qk', 'qr', 'qo', 'qm', 'qs', 'ql', 'whsec'].map((prefix) => `${prefix}_${token}`);
  credentials.push(`whsec_${standardToken}`);

  test.each([
    ['a field', { headers: { 'X-API-Key': 'canary', 'secret-key': 'canary', 'x-internal-token': 'canary' } }],
    ['a nested field', { a: { b: [{ api_key: 'canary' }, { rotation_secret: 'canary' }, { signing_key: 'canary' }] } }],
    [
      'a camel-case field',
      { apiKey: 'canary', internalToken: 'canary', rotationSecret: 'canary', operatorToken: 'canary' },
    ],
    ['a password with quotes in it', { password: 'can\\"ary canary' }],
    ['a database URL', { url: 'postgres://role:canary@db:5432/x', other: 'amqp://u:can%2Fary-canary@mq' }],
    ['an error', { error: new Error('connect postgres://role:canary@db failed') }],
  ])('as %s', (_where, fields) => {
    const [line] = linesOf((logger) => logger.info(fields, 'text'));
    expect(line).not.toContain('canary');
    expect(line).toContain('[redacted]');
    expect(() => JSON.parse(line ?? '') as unknown).not.toThrow();
  });

  test.each(credentials)('as anything shaped like the credential %s', (credential) => {
    const [line] = linesOf((logger) =>
      logger
        .child({ bound: credential })
        .info({ text: `{"x":"${credential}"}`, error: new Error(credential) }, credential),
    );
    expect(line).not.toContain(credential.slice(credential.indexOf('_') + 1));
  });

  test('as an extended key of a wallet, also where it is cut or escaped', () => {
    const key = 'z4pot5VBttmtdRTWfWQmoH1taj2axGVzFqSb8C9xaxKymcFzXBDptWmT7FwuEzG3ryjH4ktypQSAewRiNMjANTtpgP4mLTj34bhn';
    for (const start of ['xprv9', 'xpub6', 'zprvA', 'tprv8', '\nxprv9', '"Zpub']) {
      const [line] = linesOf((logger) => logger.info({ text: `${start}${key}ZX7UiM`, error: new Error(start + key) }));
      expect(line).not.toContain(key.slice(0, 12));
      expect(() => JSON.parse(line ?? '') as unknown).not.toThrow();
    }
  });

  test('other text stays readable', () => {
    const line = '{"key_id":"whk_0123","url":"http://host:8080/a@b","payment_id":"pay_1","count":3}';
    expect(redactSecrets(line)).toBe(line);
  });

  test('a long hostile line is handled in linear time', () => {
    const work = (size: number) => {
      const line = `{"a":"${'"password'.repeat(size)}${'://a:'.repeat(size)}${'_-'.repeat(size)}"}`;
      const startedAt = performance.now();
      redactSecrets(line);
      return performance.now() - startedAt;
    };
    // The fastest of several rounds: a busy machine slows down some of them, and never speeds one up.
    const fastest = { short: Infinity, long: Infinity };
    for (let round = 0; round < 5; round += 1) {
      fastest.short = Math.min(fastest.short, work(2_000));
      fastest.long = Math.min(fastest.long, work(128_000));
    }
    // Quadratic work would take 4,096 times as long for 64 times the length.
    expect(fastest.long).toBeLessThan(Math.max(fastest.short, 1) * 512);
  });
});
