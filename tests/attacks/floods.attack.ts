import { connect, type Socket } from 'node:net';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { clientAddress } from '../support/bursts.ts';
import { openMerchant, type Merchant } from '../support/merchant.ts';
import type { Attack, Check } from './attack.ts';
import { ask, askAs } from './support/ask.ts';

const READ = '/api/v1/merchant/limits';

export const attack: Attack = {
  name: 'floods',
  about:
    'headers that are too large, requests that are too slow, and hundreds of connections; limits and bodies are rules of the contract',
  async checks({ stack }) {
    const merchant = await openMerchant(stack);
    return [sizes(merchant), slow(stack), connections(stack), alive(stack, merchant)];
  },
};

const sizes = (merchant: Merchant): Check => ({
  name: 'headers that are many or large are refused, and a path that is too long',
  async run(trial) {
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`X-H-${index}`, 'x']));
    const answers = {
      'three thousand headers': await askAs(merchant, 'GET', READ, { headers: many }),
      'a header of 40 kB': await askAs(merchant, 'GET', READ, { headers: { 'X-Large': 'x'.repeat(40_000) } }),
      'a path of 40 kB': await askAs(merchant, 'GET', `/api/v1/${'x'.repeat(40_000)}`),
    };
    for (const [name, { status }] of Object.entries(answers))
      trial.holds([400, 414, 431].includes(status), () => `${name} was answered ${status}`);
  },
});

const slow = (stack: StackFile): Check => ({
  name: 'headers and bodies that never end lose their connection, and delay no other client',
  async run(trial) {
    const headers = 'GET /api/v1/merchant/limits HTTP/1.1\r\nHost: x\r\nX-Slow: ';
    const body =
      'POST /api/v1/payments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{';
    const sockets = [
      ...Array.from({ length: 20 }, () => open(stack, headers)),
      ...Array.from({ length: 20 }, () => open(stack, body)),
    ];
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('GET', stack.edge_url + READ)));
    for (const { status } of answers) trial.same('another client meanwhile', status, 401);
    // The edge gives them ten seconds.
    await eventually(
      () => {
        const left = sockets.filter((socket) => !socket.closed).length;
        if (left > 0) throw new Error(`${left} of ${sockets.length} connections are open`);
      },
      { timeoutMs: 60_000, intervalMs: 250 },
    );
    trial.holds(true, () => '');
  },
});

/** A connection from its own address that has sent this much and sends no more. */
function open(stack: StackFile, bytes: string, from = clientAddress()): Socket {
  const { hostname, port } = new URL(stack.edge_url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: from });
  socket.on('error', () => undefined);
  // While an answer is unread, the end of the connection is not seen.
  socket.resume();
  socket.write(bytes);
  return socket;
}

const connections = (stack: StackFile): Check => ({
  name: 'hundreds of silent connections keep no client out',
  async run(trial) {
    const from = clientAddress();
    const sockets = Array.from({ length: 300 }, () => open(stack, '', from));
    try {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask('GET', stack.edge_url + READ)));
      for (const { status } of answers) trial.same('another address', status, 401);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  },
});

const alive = (stack: StackFile, merchant: Merchant): Check => ({
  name: 'after all of this the same processes run and work',
  async run(trial) {
    for (const { replicas } of Object.values(stack.services))
      for (const { pid } of replicas) trial.holds(process.kill(pid, 0), () => `process ${pid} is gone`);
    const payment = await merchant.created({ amount: '5.05' });
    trial.same('a creation', payment.status, 'PENDING');
  },
});
