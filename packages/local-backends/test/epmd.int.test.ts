import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startChild, type Child } from '../src/child.ts';
import { registerNames } from '../src/epmd.ts';
import { freePort } from '../src/ports.ts';
import { rabbitmqPrograms } from '../src/rabbitmq-programs.ts';
import { temporaryDirectory, toolsDirectory } from './support.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let port: number;
let epmd: Child;
beforeAll(async () => {
  directory = await temporaryDirectory();
  port = await freePort();
  const programs = await rabbitmqPrograms(toolsDirectory);
  epmd = await startChild({
    ...{ name: 'epmd', command: programs.epmd, args: ['-port', String(port), '-address', '127.0.0.1'] },
    ...{ env: programs.env, logFile: join(directory.path, 'epmd.log') },
  });
  while (
    epmd.running() &&
    !(await asked('nobody').then(
      () => true,
      () => false,
    ))
  )
    await delay(10);
}, 60_000);
afterAll(async () => {
  await epmd.kill();
  await directory.remove();
});

/** Looks up a node like another node does. @returns null for an unknown name. */
async function asked(name: string): Promise<number | null> {
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  const request = Buffer.alloc(3 + name.length);
  request.writeUInt16BE(1 + name.length, 0);
  request.writeUInt8(122, 2);
  request.write(name, 3);
  socket.write(request);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer[1] === 0 ? answer.readUInt16BE(2) : null;
}

test('a node finds another by the port that was registered for it', async () => {
  await registerNames(port, [
    { name: 'rabbit-1@localhost', port: 12_345 },
    { name: 'rabbit-2@localhost', port: 23_456 },
  ]);
  expect([await asked('rabbit-1'), await asked('rabbit-2'), await asked('rabbit-3')]).toEqual([12_345, 23_456, null]);
});

test('a name in use is refused', async () => {
  await registerNames(port, [{ name: 'taken@localhost', port: 11_111 }]);
  await expect(registerNames(port, [{ name: 'taken@localhost', port: 11_112 }])).rejects.toThrow('refused the name');
});
