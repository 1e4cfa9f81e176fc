import { join } from 'node:path';
import { nodeName, shareSecrets } from '@quittance/local-backends/rabbitmq-node.ts';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { startRabbitmq, type Rabbitmq, type RabbitmqOptions } from '@quittance/local-backends/rabbitmq.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { faultProxy, type FaultProxy } from '@quittance/testkit/fault-proxy.ts';

/** One node, which can be killed and started again on its data. */
export type ClusterNode = {
  /** Its number, from 1. */
  number: number;
  current(): Rabbitmq;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Freezes all of its processes, like a machine that hangs. */
  freeze(): void;
  thaw(): void;
  /** Disconnects it from the other nodes; clients still reach it. */
  isolate(): void;
  join(): void;
};

export type RabbitmqCluster = {
  /** Connects to the nodes in turn. It knows nothing about their health, except that a dead one refuses connections. */
  url: string;
  nodes: readonly ClusterNode[];
  /** The leader of this quorum queue. */
  leaderOf(queue: string): Promise<ClusterNode>;
  /** Waits until every node is a member of this quorum queue. */
  untilWhole(queue: string): Promise<void>;
};

/**
 * Nodes of RabbitMQ on this machine. Between each two of them is a proxy in each direction, so that they can be disconnected.
 * @param count one, for a single node, or three.
 */
export async function startRabbitmqCluster(
  count: number,
  directory: string,
  onEnd: (close: () => Promise<void>) => void,
): Promise<RabbitmqCluster> {
  const directories = Array.from({ length: count }, (_, number) => join(directory, `rabbitmq-${number + 1}`));
  await shareSecrets(directories);
  const found = await freePorts(4 * count);
  const ports = directories.map((_, number) => {
    const [amqp, management, distribution, epmd] = found.slice(4 * number) as [number, number, number, number];
    return { amqp, management, distribution, epmd };
  });
  /** By caller, and then by target. */
  const ways = await Promise.all(
    directories.map((_, from) =>
      Promise.all(ports.map(async (to, number) => (number === from ? null : wayTo(to.distribution, onEnd)))),
    ),
  );
  const nodes: ClusterNode[] = [];
  for (const [position, own] of directories.entries()) {
    const peers = directories.flatMap((peer, number) => {
      const way = ways[position]![number] ?? null;
      return way === null ? [] : [{ directory: peer, port: way.port }];
    });
    const logFile = join(directory, `rabbitmq-${position + 1}.log`);
    const options = { directory: own, ports: ports[position]!, logFile, ...(peers.length > 0 && { peers }) };
    const through = ways.flatMap((row, from) => row.filter((way, to) => from === position || to === position));
    // One after the other, so that a later node finds the earlier ones.
    nodes.push(
      await startNode(
        position + 1,
        options,
        through.filter((way) => way !== null),
        onEnd,
      ),
    );
  }
  const balancer = await faultProxy({ target: nodes[0]!.current().url });
  onEnd(() => balancer.close());
  balancer.lead(...nodes.map((node) => node.current().url));
  const membersOf = (queue: string) => askAny(nodes, queue);
  return {
    ...{ url: balancer.url, nodes },
    leaderOf: (queue) =>
      eventually(
        async () => {
          const { leader } = await membersOf(queue);
          return nodes[directories.findIndex((one) => nodeName(one) === leader)]!;
        },
        { intervalMs: 250 },
      ),
    untilWhole: (queue) =>
      eventually(
        async () => {
          const { online = [] } = await membersOf(queue);
          if (online.length < count) throw new Error(`${queue} has ${online.length} of ${count} nodes`);
        },
        { intervalMs: 500 },
      ),
  };
}

async function wayTo(port: number, onEnd: (close: () => Promise<void>) => void): Promise<FaultProxy> {
  const proxy = await faultProxy({ target: `127.0.0.1:${port}` });
  onEnd(() => proxy.close());
  return proxy;
}

async function startNode(
  number: number,
  options: Omit<RabbitmqOptions, 'toolsDirectory'>,
  ways: readonly FaultProxy[],
  onEnd: (close: () => Promise<void>) => void,
): Promise<ClusterNode> {
  const begin = () => startRabbitmq({ ...options, toolsDirectory: join(repositoryRoot, '.local', 'tools') });
  let running = await begin();
  onEnd(() => running.kill());
  return {
    number,
    current: () => running,
    kill: () => running.kill(),
    async start() {
      running = await begin();
    },
    // The broker leads a process group, which contains everything it started.
    freeze: () => void process.kill(-running.pid, 'SIGSTOP'),
    thaw: () => void process.kill(-running.pid, 'SIGCONT'),
    isolate: () => {
      for (const way of ways) way.cut();
    },
    join: () => {
      for (const way of ways) way.restore();
    },
  };
}

type Members = { leader?: string; online?: string[] };

/** What the answering nodes say about a queue. A frozen one does not answer, and an isolated one may have old data. */
async function askAny(nodes: readonly ClusterNode[], queue: string): Promise<Members> {
  const answers = await Promise.all(
    nodes.map(async ({ current }): Promise<Members> => {
      const { origin, username, password } = new URL(current().managementUrl ?? '');
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
      const response = await fetch(`${origin}/api/queues/%2f/${queue}`, {
        headers: { authorization, connection: 'close' },
        signal: AbortSignal.timeout(5_000),
      }).catch(() => null);
      return response?.ok === true ? ((await response.json()) as Members) : {};
    }),
  );
  const counted = answers.filter(({ leader, online }) => leader !== undefined && online !== undefined);
  // A node that was away reports old data for a while.
  const votes = Map.groupBy(counted, ({ leader }) => leader);
  const [most] = [...votes.values()].sort((a, b) => b.length - a.length);
  if (most === undefined) throw new Error(`no node says who leads ${queue}`);
  return most.sort((a, b) => b.online!.length - a.online!.length)[0]!;
}
