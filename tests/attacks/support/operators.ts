import { randomBytes } from 'node:crypto';
import type { NewOperator, OperatorToken } from '@quittance/contracts/http/api-gateway/people.ts';
import type { OperatorRole } from '@quittance/contracts/principal.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { send } from '../../support/http.ts';
import { asOperator } from '../../support/operator.ts';

/** An operator of the system, with all credentials. */
export type Person = { name: string; credential: string; token: string };

/** Adds an operator of this role and gets a token, which lasts five minutes. */
export async function addPerson(stack: StackFile, role: OperatorRole): Promise<Person> {
  const name = `${role}-${randomBytes(4).toString('hex')}`;
  const { credential } = await asOperator<NewOperator>(stack, 'POST', '/operators', { name, role });
  return { name, credential, token: await tokenFor(stack, credential) };
}

export async function tokenFor(stack: StackFile, credential: string): Promise<string> {
  const answer = await exchange(stack, credential);
  if (answer.status !== 200) throw new Error(`the credential was answered ${answer.status} ${answer.text}`);
  return answer.json<OperatorToken>().token;
}

export const exchange = (stack: StackFile, credential: string) =>
  send('POST', `${stack.gateway_url}/internal/v1/operator-tokens`, { body: { credential } });

/** The console's cookie after signing in. Ten attempts a minute are allowed from one address. */
export async function signIn(stack: StackFile, credential: string): Promise<string> {
  const answer = await send('POST', `${stack.console_url}/sign-in`, {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ credential }).toString(),
  });
  const [cookie] = answer.headers['set-cookie'] ?? [];
  if (answer.status !== 303 || cookie === undefined) throw new Error(`signing in was answered ${answer.status}`);
  return cookie.split(';')[0] ?? '';
}
