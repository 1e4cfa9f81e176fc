/** What the server may do, by the scope of its API key. */
export type Scope = 'read' | 'orders';

export type Access = {
  /** The URL of the API before /api/v1. */
  baseUrl: string;
  apiKey: string;
};

/** A key or an address that the server does not work with. The message is for the person who set it. */
export class SettingsError extends Error {}

/**
 * The scope of an API key. The API does not say it, but refuses a request that the scope does not allow before it complains about its body,
 * and neither counts nor does anything for a body that is wrong.
 * @throws SettingsError for a key of scope `all`, an unknown key, and an address without the API.
 */
export async function scopeOf(access: Access): Promise<Scope> {
  if (!(await admits(access, 'GET', '/merchant/limits')))
    throw new SettingsError('QUITTANCE_API_KEY is not a valid API key');
  if (await admits(access, 'PUT', '/merchant/profile'))
    throw new SettingsError(
      'QUITTANCE_API_KEY may change settings and accept transfers. Make a key with the scope "read" or "orders"',
    );
  return (await admits(access, 'POST', '/payments')) ? 'orders' : 'read';
}

/** With a body that is no JSON object, and so changes nothing. */
async function admits({ baseUrl, apiKey }: Access, method: string, path: string): Promise<boolean> {
  const url = `${baseUrl.replace(/\/+$/, '')}/api/v1${path}`;
  const body = method === 'GET' ? {} : { body: '0' };
  const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
  const signal = AbortSignal.timeout(10_000);
  const answer = await fetch(url, { method, headers, ...body, redirect: 'error', signal }).catch((cause: unknown) => {
    throw new SettingsError(`there is no answer from ${url}`, { cause });
  });
  await answer.body?.cancel();
  if (answer.status === 401) return false;
  if (answer.status === (method === 'GET' ? 200 : 422)) return true;
  throw new SettingsError(`${url} answered ${answer.status}: is QUITTANCE_URL the address of the API?`);
}
