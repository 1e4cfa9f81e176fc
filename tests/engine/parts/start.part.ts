import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { images as used } from '@quittance/local-backends/container.ts';
import { installedNginx } from '@quittance/local-backends/nginx-program.ts';
import { installedRabbitmq } from '@quittance/local-backends/rabbitmq-programs.ts';
import { repositoryRoot, stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { docker, patience } from '../docker.ts';
import type { Part } from '../part.ts';

/** Hides programs from this process and what it starts, as on a machine other than Debian that has unpacked nothing. */
const bare = `
  mount -t tmpfs tmpfs "$1"
  for program in apt-get dpkg-deb; do
    file=$(command -v "$program") && mount --bind /dev/null "$file"
  done
  shift
  exec "$@"`;

export const part: Part = {
  name: 'start',
  about:
    'npm start without RabbitMQ, nginx and apt: both run in containers, which end with it; without an engine, it lists what is missing',
  run: async ({ images, say, onEnd }) => {
    if (process.platform !== 'linux' || process.getuid?.() !== 0)
      return 'only root on Linux can hide this machine’s programs from a process';
    if (installedRabbitmq() !== undefined || installedNginx() !== undefined)
      return 'this machine has RabbitMQ or nginx, which npm start would use';
    images.nameStandIns();
    const directory = await mkdtemp(join(tmpdir(), 'quittance-start-'));
    onEnd(() => rm(directory, { recursive: true, force: true }));

    const refused = await start(directory, { DOCKER_HOST: 'unix:///nonexistent' });
    const complaint = await refused.ended;
    if (!/no rabbitmq-server and nginx[^]*install rabbitmq-server and nginx[^]*start Docker/.test(complaint))
      throw new Error(`without an engine it said ${complaint}`);
    say('refused without an engine, with a list of what to do');

    const first = await start(directory);
    onEnd(async () => void first.child.kill('SIGKILL'));
    await first.ready;
    await requireContainers(2);
    say('started on containers of RabbitMQ and nginx; the demo is paid');
    first.child.kill('SIGINT');
    await first.ended;
    await requireContainers(0);
    say('stopped, and both containers are gone');

    const second = await start(directory);
    onEnd(async () => void second.child.kill('SIGKILL'));
    await second.ready;
    say('started again on the earlier data; another demo is paid');
    second.child.kill('SIGKILL');
    await eventually(() => requireContainers(0), patience);
    say('killed, and both containers are gone');
    return undefined;
  },
};

type Started = { child: ChildProcess; ready: Promise<string>; ended: Promise<string> };

async function start(directory: string, env: NodeJS.ProcessEnv = {}): Promise<Started> {
  const { tools } = stackDirectory();
  await mkdir(tools, { recursive: true });
  const hidden = ['unshare', '--mount', 'sh', '-ec', bare, 'bare', tools];
  const [command, ...words] = [...hidden, process.execPath, 'infra/local/commands/start.ts', '--quiet-demo'];
  const child = spawn(command, words, {
    cwd: repositoryRoot,
    env: { ...process.env, PORT_BASE: '21000', LOCAL_DIRECTORY: directory, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const isReady = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('Ctrl-C stops it')) isReady.resolve(said);
    });
  }
  const ended = once(child, 'close').then(() => {
    isReady.reject(new Error(`npm start ended:\n${said}`));
    return said;
  });
  // Not awaited if the start is meant to be refused.
  isReady.promise.catch(() => undefined);
  return { child, ready: isReady.promise, ended };
}

/** @throws Error unless this number of npm start's containers runs. */
async function requireContainers(count: number): Promise<void> {
  const running = (await docker('ps', '--format', '{{.Image}}')).split('\n');
  const ours = [used.rabbitmq, used.nginx].filter((image) => running.includes(image));
  if (ours.length !== count) throw new Error(`${count} containers should run, but these do: ${running.join(', ')}`);
}
