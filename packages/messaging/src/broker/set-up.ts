import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'amqplib';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { ensureTopology } from './declare.ts';
import { operatorPermissions, permissionsOf, type Permissions } from './topology.ts';

/** The users of a virtual host: one for each service, and one for `ops dead-letter`. */
export type BrokerUser = ServiceName | 'operator';

export const brokerUsers: readonly BrokerUser[] = [...serviceNames, 'operator'];

const permissionsOfUser = (user: BrokerUser): Permissions =>
  user === 'operator' ? operatorPermissions : permissionsOf(user);

/**
 * Prepares RabbitMQ before the first service starts: exchanges and queues, and the users with what each of them may do. Doing it again
 * changes nothing but passwords.
 * @param url of a user who may declare everything.
 * @param users null where something else makes them; else the management API, as an administrator, and the password of each.
 * @throws Error for an exchange or a queue that could not be declared.
 */
export async function prepareBroker(
  url: string,
  users: { managementUrl: string; passwords: Record<BrokerUser, string> } | null,
  logger: Logger,
): Promise<void> {
  const connection = await connect(url, { noDelay: true });
  try {
    const missing = await ensureTopology(connection, logger);
    if (missing.length > 0) throw new Error(`RabbitMQ does not let this user declare ${missing.join(', ')}`);
  } finally {
    await connection.close();
  }
  if (users === null) return;
  const vhost = encodeURIComponent(decodeURIComponent(new URL(url).pathname.slice(1)) || '/');
  for (const user of brokerUsers) {
    const account = { password: users.passwords[user], tags: '' };
    await put(users.managementUrl, `/api/users/${user}`, account);
    await put(users.managementUrl, `/api/permissions/${vhost}/${user}`, permissionsOfUser(user));
  }
}

/** The same broker and virtual host, as somebody else. */
export function urlOfUser(url: string, user: BrokerUser, password: string): string {
  return Object.assign(new URL(url), { username: user, password: encodeURIComponent(password) }).href;
}

const TIMEOUT_MS = 30_000;

/** Without keep-alive: an open connection would hold up the end of the plugin by five seconds. */
async function put(managementUrl: string, path: string, body: object): Promise<void> {
  const { username, password, hostname, port } = new URL(managementUrl);
  const auth = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers = { 'content-type': 'application/json' };
  const asked = request({ hostname, port, path, method: 'PUT', auth, headers, agent: false, timeout: TIMEOUT_MS });
  asked.on('timeout', () => asked.destroy(new Error(`PUT ${path} took over 30 s`)));
  asked.end(JSON.stringify(body));
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  const { statusCode = 0 } = answer;
  if (statusCode >= 300) throw new Error(`RabbitMQ's management API answered ${statusCode} to PUT ${path}`);
}
