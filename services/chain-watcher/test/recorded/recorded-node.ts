import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Call, Lie, Outcome } from './lies.ts';
import { hexOf, type RawLog, type RawReceipt, type RecordedChain, type ServedBlock } from './recorded-blocks.ts';

type Filter = {
  blockHash?: string;
  fromBlock?: string;
  toBlock?: string;
  address?: string;
  topics?: (string | string[] | null)[];
};

/** Endpoints of many networks. Each shows the same chain, or a false version of it. */
export type RecordedNode = {
  /** The endpoint gives this false answer, if any, until `tellTruth`. */
  urlOf(network: string, endpoint: number, lie: Lie | null): string;
  /** Shows the blocks up to this height. Those up to the second height are final. */
  show(heights: { head: number; finalized: number }): void;
  tellTruth(): void;
  /** The number of false answers of this endpoint so far. */
  liesOf(network: string, endpoint: number): number;
  close(): Promise<void>;
};

export async function recordedNode(
  chain: RecordedChain,
  { chainId, hasBlockReceipts }: { chainId: number; hasBlockReceipts: boolean },
): Promise<RecordedNode> {
  const shown = { head: chain.first, finalized: chain.first };
  const answer = honestAnswers(chain, shown, { chainId, hasBlockReceipts });
  const liars = new Map<string, { lie: Lie | null; lies: number }>();

  async function respond(path: string, body: string, response: ServerResponse): Promise<void> {
    const endpoint = liars.get(path);
    const asked = JSON.parse(body) as Call | Call[];
    if (endpoint === undefined) throw new Error(`nobody is at ${path}`);
    const answers = [asked].flat().map((call) => {
      const honest = answer(call);
      const lied = endpoint.lie?.change?.({ call, outcome: honest, chain, head: shown.head }) ?? null;
      if (lied !== null) endpoint.lies += 1;
      return { jsonrpc: '2.0', id: call.id, ...(lied ?? honest) };
    });
    const whole = JSON.stringify(Array.isArray(asked) ? answers : answers[0]);
    const spoilt = endpoint.lie?.spoil?.(whole) ?? null;
    if (spoilt !== null) endpoint.lies += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end(spoilt ?? whole);
  }

  const server = createServer((request, response) => {
    text(request)
      .then((body) => respond(request.url ?? '', body, response))
      .catch(() => response.socket?.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    urlOf(network, endpoint, lie) {
      const path = `/${network}/${endpoint}`;
      liars.set(path, { lie, lies: 0 });
      return origin + path;
    },
    show: (heights) => void Object.assign(shown, heights),
    tellTruth() {
      for (const endpoint of liars.values()) endpoint.lie = null;
    },
    liesOf: (network, endpoint) => liars.get(`/${network}/${endpoint}`)?.lies ?? 0,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function honestAnswers(
  { blocks }: RecordedChain,
  shown: { head: number; finalized: number },
  { chainId, hasBlockReceipts }: { chainId: number; hasBlockReceipts: boolean },
): (call: Call) => Outcome {
  const heights = new Map([...blocks].map(([number, { header }]) => [header.hash, number]));
  const places = new Map<string, { number: number; receipt: RawReceipt }>();
  for (const [number, { receipts }] of blocks)
    for (const receipt of receipts) places.set(receipt.transactionHash, { number, receipt });
  const at = (number: number): ServedBlock | null => (number <= shown.head ? (blocks.get(number) ?? null) : null);
  const heightOf = (tag: string): number =>
    tag === 'latest' ? shown.head : tag === 'finalized' ? shown.finalized : Number(tag);

  function logs({ blockHash, fromBlock = 'latest', toBlock = 'latest', address, topics }: Filter): Outcome {
    const height = blockHash === undefined ? null : (heights.get(blockHash) ?? Number.POSITIVE_INFINITY);
    if (height !== null && at(height) === null) return { error: { code: -32000, message: 'unknown block' } };
    const [from, to] = height === null ? [heightOf(fromBlock), heightOf(toBlock)] : [height, height];
    const found: RawLog[] = [];
    for (let number = from; number <= Math.min(to, shown.head); number += 1) {
      const own = blocks.get(number)?.receipts.flatMap((receipt) => receipt.logs) ?? [];
      found.push(...own.filter((log) => isWanted(log, address, topics)));
    }
    return { result: found };
  }

  return ({ method, params }) => {
    const first = String(params[0]);
    switch (method) {
      case 'eth_chainId':
        return { result: hexOf(chainId) };
      case 'eth_getBlockByNumber':
        return { result: at(heightOf(first))?.header ?? null };
      case 'eth_getBlockByHash':
        return { result: at(heights.get(first) ?? Number.POSITIVE_INFINITY)?.header ?? null };
      case 'eth_getLogs':
        return logs(params[0] as Filter);
      case 'eth_getTransactionReceipt': {
        const place = places.get(first);
        return { result: place !== undefined && place.number <= shown.head ? place.receipt : null };
      }
      case 'eth_getBlockReceipts':
        if (hasBlockReceipts) return { result: at(heights.get(first) ?? heightOf(first))?.receipts ?? null };
    }
    return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } };
  };
}

function isWanted(log: RawLog, address: string | undefined, topics: Filter['topics'] = []): boolean {
  if (address !== undefined && log.address.toLowerCase() !== address.toLowerCase()) return false;
  return topics.every((wanted, position) => {
    const topic = log.topics[position]?.toLowerCase();
    return wanted === null || (topic !== undefined && [wanted].flat().includes(topic));
  });
}
