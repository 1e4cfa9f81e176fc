import type { Random } from './random.ts';
import { evilTexts } from './words.ts';

/**
 * A path, or one segment of it, with one or two changes: other spellings, parent segments, broken escapes, excessive length. May contain
 * invalid characters, but never a line break, which would change the request.
 */
export function hostilePath(random: Random, path: string): string {
  let changed = path;
  for (let left = 1 + random.below(2); left > 0; left -= 1) changed = random.pick(changes)(changed, random);
  return changed;
}

type Change = (path: string, random: Random) => string;

const insert =
  (text: string): Change =>
  (path, random) => {
    const at = random.below(path.length + 1);
    return path.slice(0, at) + text + path.slice(at);
  };

const changes: readonly Change[] = [
  ...[
    '%2f',
    '%2F',
    '%5c',
    '\\',
    '/',
    '//',
    '/./',
    '/../',
    '/%2e%2e/',
    '/..;/',
    '%252e',
    '%00',
    '%0d%0aX-A:%20b',
    '%ff',
  ].map(insert),
  ...[
    '%',
    '%4',
    '%zz',
    '%u002f',
    '%c0%ae',
    '%ed%a0%80',
    '%e2%80%ae',
    '?',
    '??',
    '?a[b]=c',
    '#x',
    ';a=b',
    '*',
    ':',
    '@',
    '..',
  ].map(insert),
  ...['é', '😀', '\u00ff', '\u0001', '\t', ' ', '"', '<x>', '{x}', '|', '^', '`', "'", '~', '$', '&', '+'].map(insert),
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.toUpperCase(),
  (path) => path.replaceAll('/', '%2f'),
  (path) => path.replace('/api/v1', '/api/v1/../../api/v1'),
  (path) => path.replace('/api/v1', '/api/v2'),
  (path) => path.replace('/api/v1', '/x/%2e%2e/api/v1'),
  (path) =>
    Array.from(path, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
      .join('')
      .slice(0, 900),
  (path, random) => path.slice(0, random.below(path.length)),
  (path, random) => `${path}/${encoded(random.pick(evilTexts))}`,
  (path, random) => `${path}?${encoded(random.pick(evilTexts))}=${encoded(random.pick(evilTexts))}`,
  (path, random) => path + 'a'.repeat(random.pick([300, 5_000, 9_000, 17_000])),
  (path, random) => `${path}${'/a'.repeat(random.pick([50, 3_000]))}`,
];

const parameters = ['status', 'limit', 'cursor', 'created_from', 'created_to', 'offset', 'X-API-Key', '__proto__', ''];
const plausible: Record<string, readonly string[]> = {
  status: ['PENDING', 'CHECKING', 'PAID', 'EXPIRED', 'CANCELLED', 'pending'],
  limit: ['1', '100', '0', '101', '-1', '1.0', '1e1', '007', '9007199254740993'],
  created_from: [
    '2026-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '2026-01-01T00:00:00.123456789%2B14:00',
    '1969-12-31T23:59:59Z',
  ],
  created_to: ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59-12:00', '2026-02-29T00:00:00Z', '2026-01-01T24:00:00Z'],
};

/** @param cursors that the service itself has issued. */
export function hostileQuery(random: Random, cursors: readonly string[]): string {
  const pairs = Array.from({ length: random.below(4) }, () => {
    const name = random.pick(parameters);
    const values = name === 'cursor' ? [...cursors.slice(-20), random.text(60), random.text(600)] : plausible[name];
    const value = values !== undefined && random.chance(0.7) ? random.pick(values) : encoded(random.pick(evilTexts));
    const spoilt = name === 'cursor' && random.chance(0.3) ? hostilePath(random, value) : value;
    return `${encoded(name)}=${spoilt}`;
  });
  return pairs.length === 0 ? random.pick(['', '?', '?&&==&']) : `?${pairs.join(random.pick(['&', '&', '&', ';']))}`;
}

/** Percent-encoded; a lone surrogate as the bytes that it would have. Kept short enough for a request line. */
const encoded = (text: string): string =>
  [...Buffer.from(text)]
    .slice(0, 1_500)
    .map((byte) => (byte > 0x2c && byte < 0x7b ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`))
    .join('');
