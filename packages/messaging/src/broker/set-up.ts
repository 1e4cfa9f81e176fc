import { once } from 'node:events';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect, type ChannelModel } from 'amqplib';
import { serviceNames, settingPrefix, type ServiceName } from '@quittance/contracts/service-name.ts';
import { parseAmqpUrls } from '@quittance/runtime/amqp-urls.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { declareTopology } from './declare.ts';
import { operatorPermissions, permissionsOf, topicPermissionsOf } from './topology.ts';

/** The users of a virtual host: one for each service, and one for `ops dead-letter`. */
export type BrokerUser = ServiceName | 'operator';

export const brokerUsers: readonly BrokerUser[] = [...serviceNames, 'operator'];

/** The setting that holds a user's password, when set-up creates the user. */
export const passwordSettingOf = (user: BrokerUser): string =>
  `${user === 'operator' ? 'OPERATOR_' : settingPrefix(user)}RABBITMQ_PASSWORD`;

/** @returns the virtual host of an AMQP URL, as written in paths of the management API. */
export const virtualHostOf = (url: string): string =>
  encodeURIComponent(decodeURIComponent(new URL(parseAmqpUrls(url)[0]).pathname.slice(1)) || '/');

/**
 * Prepares RabbitMQ before the first service starts: exchanges and queues, and the users with their permissions. Repeating it changes
 * nothing but passwords.
 * @param url of a user who may declare everything; of several hosts, the first that can be reached.
 * @param users null when something else creates them; otherwise the management API, as an administrator, and the password of each.
 * @throws Error for an exchange or a queue that could not be declared.
 */
export async function prepareBroker(
  url: string,
  users: { managementUrl: string; passwords: Record<BrokerUser, string> } | null,
  logger: Logger,
): Promise<void> {
  const connection = await connectToOne(parseAmqpUrls(url));
  try {
    const missing = await declareTopology(connection, logger);
    if (missing.length > 0)
      throw new Error(
        `RabbitMQ did not let this user declare ${missing.join(', ')}. The log has its reason; delete an exchange that has another type`,
      );
  } finally {
    await connection.close();
  }
  if (users === null) return;
  const vhost = virtualHostOf(url);
  for (const user of brokerUsers)
    await makeUser(users.managementUrl, vhost, { name: user, password: users.passwords[user], does: user });
}

async function connectToOne(urls: readonly string[]): Promise<ChannelModel> {
  let failure: unknown;
  for (const url of urls) {
    try {
      return await connect(url, { noDelay: true, timeout: CONNECT_LIMIT_MS });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/**
 * Creates a user, or changes its password.
 * @param user.does the service or operator whose permissions it gets.
 */
export async function makeUser(
  managementUrl: string,
  vhost: string,
  { name, password, does }: { name: string; password: string; does: BrokerUser },
): Promise<void> {
  await put(managementUrl, `/api/users/${name}`, { password, tags: '' });
  const permissions = does === 'operator' ? operatorPermissions : permissionsOf(does);
  await put(managementUrl, `/api/permissions/${vhost}/${name}`, permissions);
  if (does === 'operator') return;
  await put(managementUrl, `/api/topic-permissions/${vhost}/${name}`, topicPermissionsOf(does));
}

/** The same broker and virtual host, with another user. */
export function urlOfUser(url: string, user: BrokerUser, password: string): string {
  const login = { username: user, password: encodeURIComponent(password) };
  return parseAmqpUrls(url)
    .map((one) => Object.assign(new URL(one), login).href)
    .join(',');
}

const CONNECT_LIMIT_MS = 5_000;
const TIMEOUT_MS = 30_000;

/** Without keep-alive: an open connection would delay the end of the plugin by five seconds. */
async function put(managementUrl: string, path: string, body: object): Promise<void> {
  const url = new URL(managementUrl.replace(/\/$/, '') + path);
  const headers = { 'content-type': 'application/json' };
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const asked = request(url, { method: 'PUT', headers, agent: false, timeout: TIMEOUT_MS });
  asked.on('timeout', () => asked.destroy(new Error(`PUT ${path} took over 30 s`)));
  asked.end(JSON.stringify(body));
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  const { statusCode = 0 } = answer;
  if (statusCode >= 300) throw new Error(`RabbitMQ's management API answered ${statusCode} to PUT ${path}`);
}
