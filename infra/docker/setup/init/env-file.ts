import { randomBytes } from 'node:crypto';
import { newSigningKey, trustedKeysOf } from '@quittance/runtime/trust.ts';

/**
 * The text of an .env: `.env.example` with a random value for each <random>, and keys for each <…key>. Values of an earlier .env stay,
 * because new encryption keys could not read the stored keys, and new passwords would not match the data. Missing values
 * are added.
 * @param values replace existing values, or are added.
 */
export function environmentText(
  example: string,
  earlier: string | null,
  values: Readonly<Record<string, string>> = {},
): string {
  const base = earlier === null ? example : withMissing(earlier, example);
  const named = Object.entries(values).reduce((text, [name, value]) => withValue(text, name, value), base);
  const filled = named
    .replace(/^([A-Z_]+)=<random>$/gm, (_, name: string) => `${name}=${randomValue(name)}`)
    .replace(/=<signing key>$/gm, () => `=${newSigningKey()}`);
  return filled.replace(/=<trusted keys>$/m, () => `=${trustedKeysOf(signingKeysIn(filled))}`);
}

/** By process name, as in API_GATEWAY_SIGNING_KEY. */
function signingKeysIn(text: string): Record<string, string> {
  const found = text.matchAll(/^([A-Z_]+)_SIGNING_KEY=(.+)$/gm);
  return Object.fromEntries(
    Array.from(found, ([, name = '', key = '']) => [name.toLowerCase().replaceAll('_', '-'), key]),
  );
}

/** Replaces the line with this name, else the line that has it commented out, else adds a line at the end. */
export function withValue(text: string, name: string, value: string): string {
  const line = `${name}=${quoted(name, value)}`;
  for (const pattern of [new RegExp(`^${name}=.*$`, 'm'), new RegExp(`^#${name}=.*$`, 'm')])
    if (pattern.test(text)) return text.replace(pattern, () => line);
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
}

/** In an unquoted value, Compose would replace variables and treat the text after a `#` as a comment. */
function quoted(name: string, value: string): string {
  if (/^[\w./:@%?=&+,~-]*$/.test(value)) return value;
  if (/['\n\r\0]/.test(value)) throw new Error(`${name} must be one line without a single quote`);
  return `'${value}'`;
}

function withMissing(earlier: string, example: string): string {
  const lines = [...example.matchAll(/^([A-Z_]+)=.*$/gm)].filter(
    ([, name = '']) => !new RegExp(`^${name}=`, 'm').test(earlier),
  );
  const end = earlier.endsWith('\n') ? '' : '\n';
  return lines.length === 0 ? earlier : `${earlier}${end}${lines.map(([line]) => `${line}\n`).join('')}`;
}

/** 32 random bytes. Hexadecimal digits need no escaping in a URL; encryption keys must be base64. */
const randomValue = (name: string): string =>
  randomBytes(32).toString(name.endsWith('_ENCRYPTION_KEY') ? 'base64' : 'hex');
