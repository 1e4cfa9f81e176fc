const MAX_CHARACTERS = 2000;

/**
 * Characters that browsers remove or read as `/`, or that people don't see. With them, the text would not show where it
 * leads.
 */
const misleading = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\\]/u;

const localHosts = ['localhost', '127.0.0.1'];

/**
 * Why a text can't be the URL that the checkout page leads back to; null when it can. The URL is stored as it was sent,
 * so that the merchant finds what it wrote; browsers parse it by the same rules as URL.
 * @param isLocalAllowed whether plain HTTP to this machine is allowed, to try out a shop on it.
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
