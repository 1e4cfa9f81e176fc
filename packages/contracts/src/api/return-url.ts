const MAX_CHARACTERS = 2000;

/** Removed or read as `/` by browsers, or not seen by people: the text would not show where it leads. */
const misleading = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\\]/u;

const localHosts = ['localhost', '127.0.0.1'];

/**
 * Why a text cannot be where the checkout page leads back to; null when it can. It is kept as it was sent: browsers read it by the
 * same rules as URL does, and the merchant finds what it wrote.
 * @param isLocalAllowed whether plain HTTP to this machine is, as for trying out a shop on it.
 */
export function returnUrlProblem(text: string, isLocalAllowed: boolean): string | null {
  if (Array.from(text).length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  if (misleading.test(text)) return 'must not hold white space, control characters or a backslash';
  const url = /^https?:\/\/[^/]/i.test(text) ? URL.parse(text) : null;
  if (url === null) return 'must be an absolute https:// URL';
  const authority = /^[^:]+:\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
  if (authority.includes('@')) return 'must not hold credentials';
  const isLocal = isLocalAllowed && localHosts.includes(url.hostname);
  return url.protocol === 'https:' || isLocal ? null : 'must be an https:// URL';
}
