import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { asOperator } from '../../support/operator.ts';
import { send } from '../../support/http.ts';
import type { Kind } from '../rolling/traffic.ts';

/** A call of each service that release 0.2.0 also has, and that any operator may make. */
const asked = (merchantId: string): Record<ServiceName, string> => ({
  'api-gateway': '/merchants',
  payments: '/incidents',
  'chain-watcher': '/incidents',
  'webhook-dispatcher': '/lanes',
  quota: `/merchants/${merchantId}/policy`,
});

const SIGN_IN_EVERY_MS = 5_000;
const ASK_EVERY_MS = 500;
/** Tokens of this many sign-ins are in use: the oldest is a minute old, and an earlier process may have issued it. */
const KEPT_TOKENS = 12;

/**
 * An operator who signs in and calls each service with tokens that are up to a minute old, and `ops`, which sends its key, and the shared
 * token as long as there is one.
 */
export async function operatorsAtWork(stack: StackFile, merchantId: string): Promise<Kind[]> {
  const account = { name: 'olga', role: 'viewer' };
  const { credential } = await asOperator<{ credential: string }>(stack, 'POST', '/operators', account);
  const tokens: string[] = [];
  const signIn: Kind = {
    ...{ name: 'sign-in of an operator', everyMs: SIGN_IN_EVERY_MS, expected: 200 },
    async request(requestId) {
      const answer = await send('POST', `${stack.services['api-gateway'].url}/internal/v1/operator-tokens`, {
        headers: { 'X-Request-ID': requestId },
        body: { credential },
      });
      if (answer.status === 200) tokens.push(answer.json<{ token: string }>().token);
      if (tokens.length > KEPT_TOKENS) tokens.shift();
      return answer;
    },
  };
  const ask = (name: ServiceName, who: string, headersOf: () => Record<string, string> | null): Kind => ({
    ...{ name: `${who} at ${name}`, everyMs: ASK_EVERY_MS, expected: 200 },
    async request(requestId) {
      const headers = headersOf();
      if (headers === null) return null;
      const url = `${stack.services[name].url}/internal/v1${asked(merchantId)[name]}`;
      return send('GET', url, { headers: { ...headers, 'X-Request-ID': requestId } });
    },
  });
  const anyToken = () => {
    const token = tokens[Math.floor(Math.random() * tokens.length)];
    return token === undefined ? null : { 'X-Operator-Token': token };
  };
  return [
    signIn,
    ...serviceNames.flatMap((name) => [
      ask(name, 'an operator', anyToken),
      ask(name, 'ops', () => callAs(stack, name)),
    ]),
  ];
}
