import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Random } from './random.ts';
import { evilJson, evilTexts } from './words.ts';

/** A valid JSON body that was then damaged in its meaning, its syntax or its bytes. */
export function hostileBody(random: Random, valid: Record<string, unknown>): Buffer {
  const kind = random.weighted<(random: Random, valid: Record<string, unknown>) => Buffer>([
    [10, evilField],
    [4, evilShape],
    [3, evilSyntax],
    [4, evilBytes],
    [1, evilEncoding],
  ]);
  return kind(random, valid);
}

/** Replaces the values of one or several fields. */
function evilField(random: Random, valid: Record<string, unknown>): Buffer {
  const evil = new Set(Object.keys(valid).filter(() => random.chance(0.4)));
  if (evil.size === 0) evil.add(random.pick(Object.keys(valid)));
  const fields = Object.entries(valid).map(([name, value]) => {
    if (!evil.has(name)) return [JSON.stringify(name), JSON.stringify(value)];
    const text = typeof value === 'string' ? nearly(random, value) : random.pick(evilTexts);
    return [JSON.stringify(name), random.chance(0.3) ? random.pick(evilJson) : JSON.stringify(text)];
  });
  return Buffer.from(`{${fields.map((field) => field.join(':')).join(',')}}`);
}

/** Another text, or the valid one with a small mistake. */
function nearly(random: Random, text: string): string {
  if (random.chance(0.5)) return random.pick(evilTexts);
  const at = random.below(text.length + 1);
  return random.pick([
    text.slice(0, at) + text.slice(at + 1),
    text.slice(0, at) + random.pick(evilTexts) + text.slice(at),
    text.slice(0, at) + text.slice(at).toUpperCase(),
    text.repeat(2),
    ` ${text}`,
    `${text}\n`,
  ]);
}

/** Fields are missing, unknown, repeated, or named like properties of every object. */
function evilShape(random: Random, valid: Record<string, unknown>): Buffer {
  const entries = Object.entries(valid).map(([name, value]) => [JSON.stringify(name), JSON.stringify(value)] as const);
  const names = ['__proto__', 'constructor', 'toString', '', 'id', 'status', ...evilTexts];
  const extra = () => [JSON.stringify(random.pick(names)), random.pick(evilJson)] as const;
  const fields = random.pick([
    () => entries.slice(random.below(entries.length)),
    () => [...entries, extra()],
    () => [extra(), ...entries, extra(), extra()],
    () => [...entries, random.pick(entries)],
    () => [...entries.map(([name, value]) => [name.replace(/[a-z]/, '\\u0061'), value] as const)],
    () => Array.from({ length: 4_000 }, (_, index) => [`"f${random.chance(0.5) ? index : 0}"`, '1'] as const),
  ])();
  return Buffer.from(`{${fields.map((field) => field.join(':')).join(',')}}`);
}

/** Not a single JSON object. */
function evilSyntax(random: Random, valid: Record<string, unknown>): Buffer {
  const text = JSON.stringify(valid);
  const texts = [
    `[${text}]`,
    text + text,
    `${text},`,
    text.slice(0, random.below(text.length)),
    `\ufeff${text}`,
    `/**/${text}`,
  ];
  const others = [
    '',
    ' ',
    '\u0000',
    `)]}',${text}`,
    text.replaceAll('"', "'"),
    `x=${encodeURIComponent(text)}`,
    `<a>${text}</a>`,
  ];
  return Buffer.from(random.pick([...texts, ...others, random.pick(evilJson)]));
}

/** A few bytes are changed, inserted or removed, so that the text is often invalid UTF-8. */
function evilBytes(random: Random, valid: Record<string, unknown>): Buffer {
  let bytes = Buffer.from(JSON.stringify(valid));
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    const at = random.below(bytes.length);
    const evil = random.pick([
      [random.below(256)],
      [],
      [0xff],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0],
    ]);
    bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(evil), bytes.subarray(at + random.below(2))]);
  }
  return bytes;
}

/** Compressed, in another encoding, or noise. */
function evilEncoding(random: Random, valid: Record<string, unknown>): Buffer {
  const text = JSON.stringify(valid);
  const bomb = () => gzipSync(Buffer.alloc(4 * 1024 * 1024));
  const noise = () => Buffer.from(Array.from({ length: random.below(2_000) }, () => random.below(256)));
  return random.pick([
    () => gzipSync(text),
    () => deflateSync(text),
    () => brotliCompressSync(text),
    () => Buffer.from(text, 'utf16le'),
    bomb,
    noise,
  ])();
}
