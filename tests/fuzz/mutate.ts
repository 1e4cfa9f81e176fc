import type { Random } from '../conformance/support/hostile/random.ts';
import { evilJson, evilTexts } from '../conformance/support/hostile/words.ts';
import { isObject, type Json } from './target.ts';

const NUMBERS: readonly number[] = [
  ...[0, -0, 1, -1, 2, 0.1, 1.5, 255, 256, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31, 2 ** 32],
  ...[2 ** 53 - 1, 2 ** 53, 1e21, 1e308, -(2 ** 31) - 1, 599, 600, 999, 1000],
];
/** What is nested ten thousand deep goes as a text: what changes an input walks through it. */
const values: readonly Json[] = evilJson.flatMap((text) => {
  if (text.length > 2_000) return [];
  try {
    return [JSON.parse(text) as Json];
  } catch {
    return [];
  }
});
/** A longer one says nothing that a shorter one does not, and would fill the corpus. */
const TEXT_MAX = 70_000;

/**
 * Changes an input in one to four places: its values, its structure, the bytes of its texts, or by a piece of another input.
 * @param others from which pieces are taken.
 */
export function mutate(random: Random, input: Json, others: readonly Json[]): Json {
  let changed = structuredClone(input);
  const times = random.weighted([
    [6, 1],
    [3, 2],
    [1, 4],
  ]);
  for (let time = 0; time < times; time += 1) changed = changeOnce(random, changed, others);
  return changed;
}

type Place = { holder: Json[] | { [name: string]: Json }; at: number | string };

function changeOnce(random: Random, root: Json, others: readonly Json[]): Json {
  const places = placesIn(root);
  if (places.length === 0) return random.pick(others);
  const { holder, at } = random.pick(places);
  const structural = random.chance(0.25);
  if (structural && Array.isArray(holder)) changeList(random, holder, Number(at), others);
  else if (structural && !Array.isArray(holder)) changeObject(random, holder, String(at), others);
  else set(holder, at, changedValue(random, get(holder, at), others));
  return root;
}

/** Every value inside, each as often as the others: a text is not hidden by the list that it is in. */
function placesIn(root: Json): Place[] {
  if (typeof root !== 'object' || root === null) return [];
  const holder = root;
  const keys: (number | string)[] = Array.isArray(holder) ? [...holder.keys()] : Object.keys(holder);
  return keys.flatMap((at) => [{ holder, at }, ...placesIn(get(holder, at))]);
}

const get = (holder: Place['holder'], at: number | string): Json =>
  (holder as Record<string | number, Json>)[at] ?? null;

function set(holder: Place['holder'], at: number | string, value: Json): void {
  // The name of what every object has would be no property of its own.
  Object.defineProperty(holder, at, { value, enumerable: true, configurable: true, writable: true });
}

function changeList(random: Random, list: Json[], at: number, others: readonly Json[]): void {
  random.pick([
    () => list.splice(at, 1),
    () => list.splice(at, 0, structuredClone(list[at] ?? null)),
    () => list.splice(at, 0, pieceOf(random, others)),
    () => list.reverse(),
    () => list.push(...Array.from({ length: random.pick([3, 40]) }, () => structuredClone(list[at] ?? null))),
  ])();
}

function changeObject(random: Random, object: { [name: string]: Json }, at: string, others: readonly Json[]): void {
  random.pick([
    () => Reflect.deleteProperty(object, at),
    () => set(object, random.pick(evilTexts), structuredClone(get(object, at))),
    () => set(object, at, pieceOf(random, others)),
    () => set(object, random.pick(['__proto__', 'constructor', 'id', 'version']), pieceOf(random, others)),
    () => set(object, at, structuredClone(get(object, random.pick(Object.keys(object))))),
  ])();
}

/** Any value inside any of the inputs. */
function pieceOf(random: Random, others: readonly Json[]): Json {
  const other = random.pick(others);
  const places = placesIn(other);
  if (places.length === 0) return structuredClone(other);
  const { holder, at } = random.pick(places);
  return structuredClone(get(holder, at));
}

function changedValue(random: Random, value: Json, others: readonly Json[]): Json {
  if (random.chance(0.1)) return structuredClone(random.pick(values));
  if (random.chance(0.1)) return pieceOf(random, others);
  if (typeof value === 'string') return changedText(random, value);
  if (typeof value === 'number') return changedNumber(random, value);
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value) || isObject(value)) return random.pick<Json>([null, [], {}, [value], JSON.stringify(value)]);
  return random.pick<Json>([0, '', false, [], {}]);
}

const changedNumber = (random: Random, value: number): Json =>
  random.pick<Json>([random.pick(NUMBERS), value + 1, value - 1, -value, value * 1000, String(value)]);

/** Texts in hexadecimal and decimal keep their form half of the time: what is damaged more is refused at the door. */
function changedText(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const end = Math.min(text.length, at + 1 + random.below(8));
  const changed = random.pick([
    () => text.slice(0, at) + text.slice(end),
    () => text.slice(0, at) + random.pick(evilTexts) + text.slice(at),
    () => text.slice(0, at) + random.pick(evilTexts) + text.slice(end),
    () => text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1),
    () => text.slice(0, at) + random.text(1, '0123456789abcdef') + text.slice(at + 1),
    () => text.slice(0, at) + text.slice(at, end).repeat(random.pick([2, 50, 9_000])) + text.slice(end),
    () => text.slice(0, at),
    () => text + text,
    () => random.pick(evilTexts),
    () => random.pick(evilJson),
    () => text.replace(/\d+/, () => String(random.pick(NUMBERS))),
    () => text.replace(/0x[0-9a-f]*/i, () => `0x${random.text(random.pick([1, 2, 16, 64, 128]), '0123456789abcdef')}`),
  ])();
  return changed.slice(0, TEXT_MAX);
}
