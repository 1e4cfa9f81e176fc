import { freePort } from '@quittance/local-backends/ports.ts';
import { deploy } from '../deployment.ts';
import type { Part } from '../part.ts';

export const part: Part = {
  name: 'console',
  about:
    'the profile `console`: its sign-in page answers, an operator signs in and sees the payment; it is killed and restarts',
  run: async (context) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const deployment = await deploy(context, {
      options: ['--own-proxy'],
      profiles: ['postgres', 'rabbitmq', 'console'],
      settings: { CONSOLE_PUBLISH: `127.0.0.1:${port}` },
    });
    const payment = await deployment.paid();
    const page = await fetch(`${url}/sign-in`);
    const text = await page.text();
    if (page.status !== 200 || !text.includes('name="credential"'))
      throw new Error(`the sign-in page answered ${page.status} ${text.slice(0, 500)}`);
    context.say('page    /sign-in shows the credential form');
    const created = await deployment.ops(
      'operator',
      'add',
      'ann',
      '--role',
      'viewer',
      '--actor',
      'engine',
      '--reason',
      'to look',
      '--json',
    );
    const { credential } = JSON.parse(created) as { credential: string };
    const signedIn = await fetch(`${url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: url, 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams({ credential }),
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const shown = await (await fetch(`${url}/payments/${payment}`, { headers: { Cookie: cookie } })).text();
    if (!shown.includes(payment) || !shown.includes('PAID'))
      throw new Error(`signing in answered ${signedIn.status}, and the payment's page shows ${shown.slice(0, 500)}`);
    context.say(`page    a signed-in operator sees ${payment}`);
    await deployment.survives('console');
    if ((await fetch(`${url}/sign-in`)).status !== 200) throw new Error('the sign-in page is gone');
  },
};
