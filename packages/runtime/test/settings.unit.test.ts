import { describe, expect, test } from '@jest/globals';

import { ConfigurationError, settings } from '../src/settings.ts';

/** The problems of these settings, or []. */
function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

describe('settings', () => {
  test('values are read with their types', () => {
    const env = {
      PORT: '8080',
      NAME: ' shop ',
      FLAG: 'on',
      MODE: 'b',
      LIST: '1, 2,3',
      TOKEN: 'x'.repeat(32),
      EMPTY: '',
    };
    const config = settings(env, (read) => ({
      port: read.integer('PORT', { min: 0, max: 65_535 }),
      name: read.text('NAME', { pattern: /^[a-z]+$/ }),
      flag: read.boolean('FLAG'),
      mode: read.oneOf('MODE', ['a', 'b']),
      list: read.integers('LIST', { min: 0, max: 9 }),
      token: read.secret('TOKEN', { minLength: 32 }),
      absent: read.optionalText('ABSENT'),
      empty: read.optionalText('EMPTY'),
    }));
    expect(config).toEqual({
      port: 8080,
      name: 'shop',
      flag: true,
      mode: 'b',
      list: [1, 2, 3],
      token: 'x'.repeat(32),
      absent: null,
      empty: null,
    });
  });

  test('an absent or empty setting has its default', () => {
    const config = settings({ B: '' }, (read) => ({
      a: read.integer('A', { default: 5, min: 0, max: 9 }),
      b: read.text('B', { default: 'b' }),
      c: read.boolean('C', { default: false }),
      d: read.oneOf('D', ['x', 'y'], { default: 'y' }),
      e: read.integers('E', { default: [1], min: 0, max: 9 }),
      f: read.url('F', { default: 'http://localhost' }),
    }));
    expect(config).toEqual({ a: 5, b: 'b', c: false, d: 'y', e: [1], f: 'http://localhost' });
  });

  test('all problems are reported together, including those after a failed setting', () => {
    const problems = problemsOf(() =>
      settings({ PORT: '80a', MODE: 'z', AMQP_URL: 'http://x' }, (read) => ({
        port: read.integer('PORT', { min: 0, max: 9 }),
        mode: read.oneOf('MODE', ['a', 'b']),
        token: read.secret('TOKEN'),
        amqp: read.url('AMQP_URL', { protocols: ['amqp:', 'amqps:'] }),
        networks: read.jsonFile('NETWORKS_FILE', (json) => (json as { id: string }[]).map(({ id }) => id)).length,
      })),
    );
    expect(problems).toEqual([
      'PORT: must be an integer from 0 to 9',
      'MODE: must be one of a, b',
      'TOKEN: is required',
      'AMQP_URL: must be a URL with amqp: or amqps:',
      'NETWORKS_FILE: is required',
    ]);
  });

  test.each(['', '-', '1.0', '1e3', '+1', '0x10', '٣', '1 2', '11', '-1', '99999999999999999999'])(
    'the integer %p is refused',
    (text) => {
      expect(problemsOf(() => settings({ N: text }, (read) => read.integer('N', { min: 0, max: 10 })))).toHaveLength(1);
    },
  );

  test('no problem repeats a secret or a URL', () => {
    const env = { TOKEN: 'hunter2', DATABASE_URL: 'hunter2://u:hunter2@h', PLAIN: 'hunter2' };
    const problems = problemsOf(() =>
      settings(env, (read) => [
        read.secret('TOKEN', { minLength: 32 }),
        read.url('DATABASE_URL', { protocols: ['postgres:'] }),
        read.url('PLAIN'),
      ]),
    );
    expect(problems).toHaveLength(3);
    expect(problems.join()).not.toContain('hunter2');
  });

  test('only http URLs lose their trailing slash, because in an AMQP URL it names a virtual host', () => {
    const env = { A: 'https://example.com/base/', B: 'amqp://broker/' };
    expect(settings(env, (read) => [read.url('A'), read.url('B')])).toEqual([
      'https://example.com/base',
      'amqp://broker/',
    ]);
  });

  test('a bug in the reading code is not reported as a wrong configuration', () => {
    const mistake = () => settings({}, () => (undefined as unknown as string).length);
    expect(mistake).toThrow(TypeError);
  });
});
