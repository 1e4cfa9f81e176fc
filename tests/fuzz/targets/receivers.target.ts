import { newId } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { startRawReceiver } from '../../../services/webhook-dispatcher/test/raw-receiver.ts';
import { createAuthority } from '../../../services/webhook-dispatcher/test/certificates.ts';
import { startWorld } from '../../../services/webhook-dispatcher/test/world.ts';
import { isObject, type Json, type Running, type Target } from '../target.ts';

/** What a receiver writes, one byte a character, and whether it then ends the connection in order, breaks it, or leaves it. */
type Reply = { chunks: string[]; end: string };

const isReply = (input: Json): input is Reply & { [name: string]: Json } =>
  isObject(input) &&
  Array.isArray(input['chunks']) &&
  input['chunks'].every((chunk) => typeof chunk === 'string') &&
  typeof input['end'] === 'string';

const answer = (...lines: string[]): string => lines.join('\r\n');

const starts: Reply[] = [
  { chunks: [answer('HTTP/1.1 200 OK', 'content-length: 2', '', 'ok')], end: 'keep' },
  { chunks: [answer('HTTP/1.1 204 No Content', '', '')], end: 'end' },
  {
    chunks: [answer('HTTP/1.1 500 Oh', 'content-type: text/html', 'connection: close', '', '<h1>no</h1>')],
    end: 'end',
  },
  {
    chunks: [answer('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', ''), '5\r\nhello\r\n', '0\r\n\r\n'],
    end: 'keep',
  },
  {
    chunks: [answer('HTTP/1.1 302 Found', 'location: https://elsewhere.raw.io/', 'content-length: 0', '', '')],
    end: 'end',
  },
  { chunks: [answer('HTTP/1.1 429 Slow', 'retry-after: 7', 'content-length: 0', '', '')], end: 'end' },
  {
    chunks: [answer('HTTP/1.1 100 Continue', '', ''), answer('HTTP/1.0 200 OK', 'content-encoding: gzip', '', 'x')],
    end: 'destroy',
  },
  { chunks: ['SSH-2.0-OpenSSH_9.2\r\n'], end: 'destroy' },
];

/** One that says no more, and does not end the connection either, would take each attempt's whole time. */
const PATIENCE_MS = 400;

export const target: Target = {
  name: 'receivers',
  isWhole: false,
  about:
    'bytes that a receiver answers to the dispatcher; each event ends as delivered or failed, with its attempt stored',
  starts,
  accepts: isReply,
  start,
};

async function start(environment: Record<string, string>): Promise<Running> {
  const authority = await createAuthority();
  const receiver = await startRawReceiver(authority);
  const world = await startWorld({
    retryDelaysSeconds: '0',
    authority,
    settings: { ...environment, WEBHOOK_LOCAL_RECEIVER: `127.0.0.1:${receiver.port}` },
  });
  let hosts = 0;

  /** Pays a payment of a merchant with a host of its own, so that nobody's circuit is another's. */
  async function deliver() {
    const merchantId = newId('mer');
    const url = `https://host${(hosts += 1)}.raw.io/`;
    const { status } = await insist(() => world.call('PUT', `/merchants/${merchantId}/webhook`, { url }));
    if (status !== 200) throw new Error(`the endpoint is answered ${status}`);
    const payment = await world.pay({ merchantId });
    return eventually(
      async () => {
        const delivery = await world.delivery(payment);
        if (delivery.status === 'pending') throw new Error('it is pending');
        return delivery;
      },
      { timeoutMs: 60_000, intervalMs: 10 },
    );
  }

  return {
    async put(input: Json) {
      if (!isReply(input)) return { problems: [], outcome: 'no reply' };
      receiver.behave((socket) => {
        for (const chunk of input.chunks) socket.write(Buffer.from(chunk, 'latin1'));
        if (input.end === 'end') socket.end();
        else if (input.end === 'destroy') socket.destroySoon();
        else setTimeout(() => socket.destroy(), PATIENCE_MS).unref();
      });
      const { status, attempts, error_category: category } = await deliver();
      const problems = attempts < 1 ? ['it ended without an attempt'] : [];
      const { rows } = await world.pool.query(
        'select from attempt where error_category is null and http_status not between 200 and 299',
      );
      if (rows.length > 0) problems.push('an attempt is a success without a 2xx');
      return { problems, outcome: `${status} ${category ?? ''}` };
    },
    async check() {
      receiver.behave((socket) => void socket.write(starts[0]!.chunks[0]!));
      const { status } = await deliver();
      return status === 'delivered' ? [] : [`a good receiver's event is ${status}`];
    },
    async close() {
      await world.stop();
      receiver.close();
    },
  };
}
