import { createAuthenticator } from '@quittance/testkit/authenticator.ts';
import type { Shop } from './merchant-world.ts';
import type { Answer, World } from './world.ts';

/** Of the console, as browsers see it. */
export const RP_ID = 'localhost';
export const ORIGIN = 'http://localhost:1';

type Device = ReturnType<typeof createAuthenticator>;

/** What a form of a page asks a passkey for, and what else it carries. */
export function askedIn({ text }: Answer): { options: object; hidden: Record<string, string>; action: string } {
  const form = /<form[^>]*data-passkey[\s\S]*?<\/form>/.exec(text)?.[0];
  if (form === undefined) throw new Error(`no passkey is asked for: ${text.slice(0, 2000)}`);
  const plain = (escaped: string) =>
    escaped
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');
  const attribute = (name: string) => plain(new RegExp(`${name}="([^"]*)"`).exec(form)?.[1] ?? '');
  const hidden = [...form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, plain(value)],
  );
  return {
    options: JSON.parse(attribute('data-options')) as object,
    hidden: Object.fromEntries(hidden),
    action: attribute('action'),
  };
}

/** A person of a merchant who has followed the invitation: a browser, and a device that keeps the passkey. */
export async function invite(
  world: World,
  { merchantId }: Pick<Shop, 'merchantId'>,
  { role, name }: { role: string; name: string },
) {
  const path = `/merchants/${merchantId}/logins`;
  const invited = await world.services.internal<{ link: string }>('api-gateway', 'POST', path, { name, role });
  const signedIn = await world.ask('POST', '/sign-in/link', {}, { link: invited.body.link });
  if (signedIn.headers.get('location') !== '/account') throw new Error('an invitation does not lead to the account');
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const device = createAuthenticator({ origin: ORIGIN, rpId: RP_ID });
  const get = (page: string) => world.ask('GET', page, { cookie });
  async function send(page: string, fields: Record<string, string> = {}): Promise<Answer> {
    const formToken = /name="form_token" value="([^"]+)"/.exec((await get('/account')).text)?.[1] ?? '';
    return world.ask('POST', page, { cookie }, { form_token: formToken, ...fields });
  }
  const { options, hidden } = askedIn(await send('/account/passkey', { name: 'phone' }));
  const added = await send('/account/passkeys', { ...hidden, new_passkey: JSON.stringify(device.create(options)) });
  if (added.headers.get('location') !== '/account') throw new Error(`adding a passkey answered ${added.status}`);
  return {
    cookie,
    device,
    get,
    /** Without a passkey: what somebody does who has only the cookie. */
    send,
    /** Sends a form that asks for the passkey, and answers. */
    async confirm(page: string, fields: Record<string, string> = {}, by: Device = device): Promise<Answer> {
      const asked = askedIn(await send(page, fields));
      const passkey = JSON.stringify(by.get(asked.options));
      return world.ask('POST', asked.action, { cookie }, { ...asked.hidden, passkey });
    },
  };
}

export type Person = Awaited<ReturnType<typeof invite>>;
