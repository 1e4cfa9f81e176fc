import { randomBytes } from 'node:crypto';
import { request } from 'node:http';

export type TestBroker = {
  /** The amqp:// URL of a virtual host that no other test uses. */
  url: string;
  /** Deletes the virtual host with everything in it; open connections to it are closed. */
  close(): Promise<void>;
  /** Calls the management API of the run's broker, e.g. ('GET', `/api/queues/${vhost}`). Returns the parsed answer. */
  manage(method: string, path: string, body?: unknown): Promise<unknown>;
  vhost: string;
};

/** A fresh virtual host on the run's RabbitMQ. */
export async function testBroker(): Promise<TestBroker> {
  const { TEST_AMQP_URL: amqpUrl, TEST_AMQP_MANAGEMENT_URL: managementUrl } = process.env;
  if (!amqpUrl || !managementUrl) {
    throw new Error(
      'There is no RabbitMQ for this test: name it *.int.test.ts, or set TEST_AMQP_URL and TEST_AMQP_MANAGEMENT_URL.',
    );
  }
  const vhost = `test-${randomBytes(6).toString('hex')}`;
  const manage = (method: string, path: string, body?: unknown) => callManagement(managementUrl, method, path, body);
  return {
    url: await addVirtualHost({ amqpUrl, managementUrl }, vhost),
    vhost,
    manage,
    close: async () => {
      await manage('DELETE', `/api/vhosts/${vhost}`);
    },
  };
}

/**
 * Creates a virtual host with all permissions for the user of `amqpUrl`. Uses the management API, because each
 * rabbitmqctl starts its own Erlang VM.
 * @returns its amqp:// URL.
 */
export async function addVirtualHost(
  { amqpUrl, managementUrl }: { amqpUrl: string; managementUrl: string },
  vhost: string,
): Promise<string> {
  const url = new URL(amqpUrl);
  url.pathname = `/${vhost}`;
  const user = encodeURIComponent(decodeURIComponent(url.username));
  const all = { configure: '.*', write: '.*', read: '.*' };
  await callManagement(managementUrl, 'PUT', `/api/vhosts/${vhost}`);
  await callManagement(managementUrl, 'PUT', `/api/permissions/${vhost}/${user}`, all);
  return url.href;
}

/** Without keep-alive, because an idle connection would delay the broker's stop. */
function callManagement(managementUrl: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const { username, password, hostname, port } = new URL(managementUrl);
  return new Promise((resolve, reject) => {
    const options = {
      hostname,
      port,
      path,
      method,
      agent: false,
      timeout: 30_000,
      auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
      headers: { 'content-type': 'application/json' },
    };
    const call = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const status = response.statusCode ?? 0;
        if (status >= 300)
          reject(new Error(`RabbitMQ's management API answered ${status} to ${method} ${path}: ${text}`));
        else resolve(text ? (JSON.parse(text) as unknown) : null);
      });
    });
    call.on('error', reject).on('timeout', () => call.destroy(new Error(`${method} ${path} took over 30 s`)));
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
