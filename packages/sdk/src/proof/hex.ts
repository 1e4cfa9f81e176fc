/** @param text has 0x and an even number of hex digits. */
export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length / 2 - 1);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(text.slice(2 * at + 2, 2 * at + 4), 16);
  return bytes;
}

const digitsOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Lowercase, with 0x. */
export function hexOf(bytes: Uint8Array): string {
  let text = '0x';
  for (const byte of bytes) text += digitsOf[byte] ?? '';
  return text;
}
