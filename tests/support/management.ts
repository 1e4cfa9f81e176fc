import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { virtualHostOf as virtualHostOfUrl } from '@quittance/messaging/broker/set-up.ts';
import { send } from './http.ts';

/**
 * Calls the management API of the stack's RabbitMQ. @param path below `/api`.
 * @returns the parsed answer, null for an empty one. @throws Error if the API does not exist or refuses.
 */
export async function management<T>(stack: StackFile, method: string, path: string, body?: object): Promise<T> {
  const { management_url: base } = stack;
  if (base === null) throw new Error('this broker has no management API');
  const { username, password, host } = new URL(base);
  const answer = await send(method, `http://${host}/api${path}`, {
    headers: { Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
    body,
  });
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}`);
  return (answer.text === '' ? null : answer.json()) as T;
}

/** The stack's virtual host, as in a path of that API. */
export const virtualHostOf = ({ amqp_url: url }: StackFile): string => virtualHostOfUrl(url);
