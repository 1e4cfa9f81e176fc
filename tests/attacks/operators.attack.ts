import { mayCall, type OperatorRole } from '@quittance/contracts/principal.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { signerOfKey } from '@quittance/runtime/trust.ts';
import { issueOperatorToken } from '../../packages/http/src/operator-token.ts';
import { fewAtATime, send, type HttpAnswer } from '../support/http.ts';
import { openMerchant } from '../support/merchant.ts';
import { asOperator } from '../support/operator.ts';
import type { Attack, Check } from './attack.ts';
import { ask } from './support/ask.ts';
import { callsOfServices, type ServiceCall as Call } from '../../packages/contracts/test/declared-calls.ts';
import { pathWithIds } from './support/internal-calls.ts';
import { addPerson, exchange, signIn, tokenFor, type Person } from './support/operators.ts';

type Headers = Record<string, string>;

/** Fewer would mean that the search failed. */
const CALLS_MIN = 70;

export const attack: Attack = {
  name: 'operators',
  about:
    'every internal call of every service, without the edge, by callers that may not make it; and the pages of the console',
  async checks({ stack }) {
    const calls = [...callsOfServices];
    if (calls.length < CALLS_MIN) throw new Error(`only ${calls.length} internal calls were found`);
    const [viewer, support, admin] = await Promise.all(
      (['viewer', 'support', 'admin'] as const).map((role) => addPerson(stack, role)),
    );
    return [
      ...impostors(stack, admin!).map(({ name, headers }) => shutOut(stack, calls, name, headers)),
      ...[viewer!, support!, admin!].map((person, rank) =>
        withRole(stack, calls, person, (['viewer', 'support', 'admin'] as const)[rank]!),
      ),
      signature(stack),
      disabled(stack),
      ...consoleChecks(stack, viewer!),
    ];
  },
};

/** The call at its service, with a body that has no effect. */
const make = ({ owner, method, path, ...call }: Call, stack: StackFile, headers: Headers): Promise<HttpAnswer> =>
  send(method, stack.services[owner].url + pathWithIds({ owner, method, path, ...call }), {
    headers,
    ...(method !== 'GET' && { body: {} }),
  });

/** Tokens minted with other keys, or for too long, are the topic `tokens`. */
function impostors(stack: StackFile, admin: Person): { name: string; headers: Headers }[] {
  const [text = '', , signature = ''] = admin.token.split('.');
  const claims = JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
  const forged = (changed: object) => Buffer.from(JSON.stringify({ ...claims, ...changed })).toString('base64url');
  const long = { name: 'root', role: 'admin', expires_at: 9_999_999_999 };
  const somebody = { name: admin.name, role: 'admin' } as const;
  const signedBy = (key: string) => ({ signer: signerOfKey(key), sharedTokens: [] });
  const { 'api-gateway': issuer } = stack.signing_keys;
  const lapsed = issueOperatorToken(signedBy(issuer), somebody, new Date(0));
  const token = (value: string) => ({ 'X-Operator-Token': value });
  return [
    { name: 'nobody', headers: {} },
    { name: 'an empty call token', headers: { 'X-Call-Token': '' } },
    {
      name: "a merchant's API key",
      headers: { 'X-Call-Token': stack.merchant.api_key, 'X-API-Key': stack.merchant.api_key },
    },
    { name: 'a credential in place of its token', headers: token(admin.credential) },
    { name: 'a token with another name', headers: token(`${forged({ name: 'root' })}..${signature}`) },
    { name: 'a token that lasts longer', headers: token(`${forged({ expires_at: 9_999_999_999 })}..${signature}`) },
    { name: 'a token without a signature', headers: token(`${forged(long)}..`) },
    { name: 'an expired token', headers: token(lapsed) },
    {
      name: 'a wrong operator token next to a correct call token',
      headers: { ...token('x.y'), ...callAs(stack, 'quota') },
    },
  ];
}

/** 401, except for calls that carry their own secret, where a wrong secret is refused too. */
const shutOut = (stack: StackFile, calls: Call[], name: string, headers: Headers): Check => ({
  name: `no internal call is made for ${name}`,
  async run(trial) {
    const answers = await fewAtATime(calls.map((call) => () => make(call, stack, headers)));
    for (const [index, { status, text }] of answers.entries()) {
      const { owner, method, path, access } = calls[index]!;
      const wanted = access === 'anyone' ? [401, 422] : [401];
      trial.holds(
        wanted.includes(status),
        () => `${owner} answered ${method} ${path} with ${status} ${text.slice(0, 200)}`,
      );
    }
  },
});

/** 403 above the role. Allowed calls must not be refused, so that the row cannot hold by refusing everything. */
const withRole = (stack: StackFile, calls: Call[], person: Person, role: OperatorRole): Check => ({
  name: `operators with the role ${role} make the calls of that role and no others`,
  async run(trial) {
    const token = await tokenFor(stack, person.credential);
    const answers = await fewAtATime(calls.map((call) => () => make(call, stack, { 'X-Operator-Token': token })));
    let admitted = 0;
    for (const [index, { status, text }] of answers.entries()) {
      const { owner, method, path, access } = calls[index]!;
      const may = mayCall({ name: person.name, role }, access);
      if (may && access !== 'anyone') admitted += 1;
      const isRight = access === 'anyone' ? status >= 400 : may ? status !== 401 && status !== 403 : status === 403;
      trial.holds(
        isRight,
        () => `${owner} answered ${method} ${path} (${access}) with ${status} ${text.slice(0, 200)}`,
      );
    }
    trial.holds(admitted > 5, () => `only ${admitted} calls were admitted`);
  },
});

const signature = (stack: StackFile): Check => ({
  name: 'neither a service nor another operator can sign an audit entry with the name of an operator',
  async run(trial) {
    const [person, { merchantId }] = await Promise.all([
      addPerson(stack, 'support'),
      openMerchant(stack, { webhook: false }),
    ]);
    const path = `${stack.services.quota.url}/internal/v1/merchants/${merchantId}`;
    const body = { actor: '@somebody-else', reason: 'an attempt at forging the audit' };
    const byService = await ask('POST', `${path}/pause`, {
      headers: callAs(stack, 'quota'),
      body,
    });
    trial.holds(byService.status === 422, () => `a service that signs with @ was answered ${byService.status}`);
    const headers = { 'X-Operator-Token': person.token };
    const byOperator = await ask('POST', `${path}/resume`, { headers, body });
    trial.holds(byOperator.status === 200, () => `the operator was answered ${byOperator.status} ${byOperator.text}`);
    const audit = await ask('GET', `${path}/audit`, { headers });
    trial.holds(audit.status === 200, () => `the audit was answered ${audit.status}`);
    trial.holds(!audit.text.includes('somebody-else'), () => 'the audit names whom the request named');
  },
});

const disabled = (stack: StackFile): Check => ({
  name: "a disabled operator's credential and sessions are refused from then on",
  async run(trial) {
    const person = await addPerson(stack, 'viewer');
    const cookie = await signIn(stack, person.credential);
    const page = () => ask('GET', `${stack.console_url}/`, { headers: { Cookie: cookie } });
    trial.same('the session before', (await page()).status, 200);
    await asOperator(stack, 'POST', `/operators/${person.name}/disable`, {});
    trial.same('the session', [(await page()).status, (await page()).headers.location], [303, '/sign-in']);
    trial.same('the credential', (await exchange(stack, person.credential)).status, 401);
  },
});

/** The token in the forms of this session. */
async function formTokenOf(stack: StackFile, Cookie: string): Promise<string> {
  const { text } = await ask('GET', `${stack.console_url}/`, { headers: { Cookie } });
  const token = /name="form_token" value="([^"]+)"/.exec(text)?.[1];
  if (token === undefined) throw new Error('the page has no form with a token');
  return token;
}

function consoleChecks(stack: StackFile, viewer: Person): Check[] {
  const merchant = stack.merchant.merchant_id;
  const pages = ['/', '/payments', '/merchants', `/merchants/${merchant}`, '/transfers', '/networks', '/webhooks'];
  const forms = [`/merchants/${merchant}/pause`, `/merchants/${merchant}/block`, '/sign-out?everywhere=yes'];
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const submit = (path: string, headers: Headers, fields: Headers) =>
    ask('POST', stack.console_url + path, {
      headers: { ...form, ...headers },
      body: new URLSearchParams({ reason: 'an attack', ...fields }).toString(),
    });
  return [
    {
      name: 'without a session the console shows and does nothing, with any cookie',
      async run(trial) {
        const cookies = ['', '__Host-session=guess', `__Host-session=${viewer.credential}`, `session=${viewer.token}`];
        for (const Cookie of cookies) {
          const answers = await Promise.all([
            ...pages.map((path) => ask('GET', stack.console_url + path, { headers: { Cookie } })),
            ...forms.map((path) => submit(path, { Cookie }, {})),
          ]);
          for (const { status, text, headers } of answers)
            trial.same('a page', [status, text, headers.location], [303, '', '/sign-in']);
        }
      },
    },
    {
      name: 'the console accepts no form of another site, and none without the token of its session',
      async run(trial) {
        // An operator with the right role, so that only the form can be refused.
        const [person, other] = await Promise.all([
          addPerson(stack, 'support'),
          openMerchant(stack, { webhook: false }),
        ]);
        const pause = `/merchants/${other.merchantId}/pause`;
        const Cookie = await signIn(stack, person.credential);
        const token = await formTokenOf(stack, Cookie);
        const host = new URL(stack.console_url).host;
        const attempts = [
          submit(pause, { Cookie }, {}),
          submit(pause, { Cookie }, { form_token: `${token.slice(0, -2)}xx` }),
          submit(pause, { Cookie }, { form_token: await formTokenOf(stack, await signIn(stack, person.credential)) }),
          submit(pause, { Cookie, Origin: 'https://evil.example' }, { form_token: token }),
          submit(pause, { Cookie, Origin: 'null' }, { form_token: token }),
          submit(pause, { Cookie, 'Sec-Fetch-Site': 'same-site', Origin: `http://${host}` }, { form_token: token }),
        ];
        const pastTheForm = /role="alert">[^<]*(?:passkey|role)/;
        for (const { status, text } of await Promise.all(attempts)) {
          trial.same('a forged form', status, 403);
          trial.holds(!pastTheForm.test(text), () => `a forged form: ${text}`);
        }
        // It gets further: to the question for a passkey, without which an operator only looks.
        const { text } = await submit(pause, { Cookie }, { form_token: token });
        trial.holds(pastTheForm.test(text), () => `the right form: ${text}`);
      },
    },
    {
      name: 'a viewer can change nothing in the console, even with a valid form',
      async run(trial) {
        const Cookie = await signIn(stack, viewer.credential);
        const token = await formTokenOf(stack, Cookie);
        for (const path of forms.slice(0, 2))
          trial.same(path, (await submit(path, { Cookie }, { form_token: token })).status, 403);
      },
    },
    {
      name: "the console's pages cannot be framed, cached or scripted, and its cookie is for it alone",
      async run(trial) {
        const { headers } = await ask('GET', `${stack.console_url}/sign-in`);
        trial.same('Cache-Control', headers['cache-control'], 'no-store');
        trial.same('X-Frame-Options', headers['x-frame-options'], 'DENY');
        const policy = String(headers['content-security-policy']);
        for (const part of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"])
          trial.holds(policy.includes(part), () => `the policy "${policy}" is without ${part}`);
        trial.holds(
          !/unsafe|script-src(?! 'self';)|\*/.test(policy),
          () => `the policy "${policy}" lets something run`,
        );
      },
    },
  ];
}
