import { startServiceProcess } from '@quittance/testkit/service-process.ts';
import { startRealServices, type RealServices } from '../../../packages/ops/test/real-services.ts';

export type Answer = { status: number; headers: Headers; text: string };
export type World = Awaited<ReturnType<typeof startWorld>>;

/**
 * The console as a process of its own, on real services. No chain-watcher runs: pages say so, and show the rest.
 * @param options.neighbour starts what the console needs besides, and returns its settings.
 */
export async function startWorld({
  passkeysFor,
  webhooks,
  neighbour,
}: {
  passkeysFor?: string;
  webhooks?: Record<string, string>;
  neighbour?: (services: RealServices) => Promise<Record<string, string>>;
} = {}) {
  const passkeys = passkeysFor === undefined ? {} : { CONSOLE_RP_ID: passkeysFor };
  const services = await startRealServices({ gateway: passkeys, ...(webhooks && { webhooks }) });
  const { SIGNING_KEY: _signingKey, TRUSTED_KEYS: _trustedKeys, AMQP_URL: _amqpUrl, ...urls } = services.env;
  const settings = {
    ...urls,
    ...(await neighbour?.(services)),
    ...passkeys,
    CHAIN_WATCHER_URL: 'http://127.0.0.1:1',
    HOST: '127.0.0.1',
  };
  const console = await startServiceProcess(new URL('../src/main.ts', import.meta.url), settings);

  const ask = (method: string, path: string, headers: Record<string, string>, form?: Record<string, string>) =>
    askAt(console.url, method, path, headers, form);

  async function askAt(
    ...[base, method, path, headers, form]: [string, string, string, Record<string, string>, Record<string, string>?]
  ) {
    const response = await fetch(`${base}${path}`, {
      ...{ method, headers, redirect: 'manual' },
      ...(form !== undefined && { body: new URLSearchParams(form) }),
    });
    // As it came: text() of fetch takes a byte order mark away.
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, text };
  }

  const signIn = (credential: string, headers: Record<string, string> = {}) =>
    ask('POST', '/sign-in', headers, { credential });

  /** A person's browser, which has signed in. */
  async function browserOf(credential: string) {
    const signedIn = await signIn(credential);
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const get = (path: string): Promise<Answer> => ask('GET', path, { cookie });
    return {
      cookie,
      signedIn,
      get,
      /** Opens the page, fills in its last form, and sends it. */
      async submit(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
        const formToken = /name="form_token" value="([^"]+)"/.exec((await get(path)).text)?.[1] ?? '';
        return ask('POST', path, { cookie, ...headers }, { form_token: formToken, ...fields });
      },
      post: (path: string, fields: Record<string, string>): Promise<Answer> => ask('POST', path, { cookie }, fields),
    };
  }

  return {
    services,
    ask,
    askAt,
    settings,
    signIn,
    browserOf,
    async credentialOf(name: string, role: string): Promise<string> {
      const body = { name, role };
      const { body: added } = await services.internal<{ credential: string }>(
        'api-gateway',
        'POST',
        '/operators',
        body,
      );
      return added.credential;
    },
    async close() {
      await console.stop();
      await services.close();
    },
  };
}
