/** Longer than a sender waits, so that the sender gives up first. */
const TIMEOUT_MS = 20_000;
/** Headers that belong to this connection and are not forwarded. */
const ownHeaders = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
]);

/** The endpoint's answer, or why there is none. */
export type Forwarded = { status: number; headers: Record<string, string> } | { problem: string };

/** Forwards a webhook unchanged: the same bytes, the same headers. */
export async function forward(
  to: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body: Buffer },
): Promise<Forwarded> {
  try {
    const answer = await fetch(to, {
      method,
      headers: Object.entries(headers).filter(([name]) => !ownHeaders.has(name)),
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer.body?.cancel();
    const retryAfter = answer.headers.get('retry-after');
    return { status: answer.status, headers: retryAfter === null ? {} : { 'retry-after': retryAfter } };
  } catch (error) {
    const cause = (error as Error).cause as { code?: string; message?: string } | undefined;
    return { problem: cause?.code ?? cause?.message ?? (error as Error).message };
  }
}

/** @throws Error if the text is not the address of an endpoint. */
export function requireEndpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url.href;
  throw new Error(`"${text}" is not the address of an endpoint, such as http://localhost:3000/webhook`);
}
