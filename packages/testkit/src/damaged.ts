import fc from 'fast-check';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Texts and numbers that have broken parsers, validators and databases before. */
const evil: readonly Json[] = [
  ...['', ' ', '\u0000', 'a\u0000b', '\ud800', '\udc00\ud800', '\u202e', '__proto__', 'constructor', 'undefined'],
  ...['0', '-1', '01', '1e309', '-1E-400', 'NaN', '0x', '0xzz', `0x${'f'.repeat(64)}`, `0x${'0'.repeat(512)}`],
  ...['9'.repeat(400), '2026-02-30T25:00:00.000Z', '+275760-09-13T00:00:00Z', '[]', '{}', 'null', 'x'.repeat(5_000)],
  ...[0, -0, -1, 1.5, 1e-7, 1e308, 2 ** 31, 2 ** 32, 2 ** 40, 2 ** 53, -(2 ** 63)],
  ...[null, true, false, [], {}, [[]], [null]],
];

type Change = { at: number; how: 'replace' | 'remove' | 'repeat' | 'cut'; value: Json };

const changes = fc.array(
  fc.record<Change>({
    at: fc.nat({ max: 10_000 }),
    how: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'repeat', 'cut'),
    value: fc.oneof(fc.constantFrom(...evil), fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>),
  }),
  { maxLength: 4 },
);

/** Up to four random changes anywhere inside a value. Shrinks to fewer and smaller changes. */
export const damages: fc.Arbitrary<(sample: Json) => Json> = changes.map(
  (all) => (sample) => all.reduce<Json>(changed, structuredClone(sample)),
);

/** One of the samples, damaged. */
export const damagedJson = (samples: readonly Json[]): fc.Arbitrary<Json> =>
  fc.tuple(fc.constantFrom(...samples), damages).map(([sample, damage]) => damage(sample));

const nameOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

type Place = { holder: Json[] | { [name: string]: Json }; key: string };

function changed(root: Json, { at, how, value }: Change): Json {
  const places = placesIn(root);
  const place = places[at % Math.max(1, places.length)];
  if (place === undefined) return value;
  const { holder, key } = place;
  const before = Reflect.get(holder, key) as Json;
  if (how === 'replace') set(holder, key, value);
  else if (how === 'cut')
    set(holder, key, typeof before === 'string' ? before.slice(0, at % (before.length + 1)) : value);
  else if (how === 'repeat' && !Array.isArray(holder)) set(holder, nameOf(value), before);
  else if (!Array.isArray(holder)) Reflect.deleteProperty(holder, key);
  else holder.splice(Number(key), 1, ...(how === 'repeat' ? [before, structuredClone(before)] : []));
  return root;
}

/** Every value inside, at any depth. */
function placesIn(value: Json): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((key) => [{ holder: value, key }, ...placesIn(Reflect.get(value, key) as Json)]);
}

/** An assignment would not make an own property of a name like `__proto__`. */
function set(holder: Place['holder'], key: string, value: Json): void {
  const place = Array.isArray(holder) && !/^\d{1,4}$/.test(key) ? String(holder.length) : key;
  Object.defineProperty(holder, place, {
    ...{ value: structuredClone(value), enumerable: true, configurable: true, writable: true },
  });
}
