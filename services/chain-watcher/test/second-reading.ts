import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readText, type Answer, type Call } from '@quittance/testkit/chain/misbehaving-node.ts';
import type { RunningWatcher } from './watcher.ts';
import type { World } from './world.ts';

type RawLog = { transactionHash: string; topics: string[]; data: string };

/** Makes a node hide transactions so well that nothing in a block reveals them. */
export const hiding =
  (isHidden: (transactionHash: string) => boolean) =>
  (call: Call, answer: Answer): Partial<Answer> | undefined => {
    if (call.method === 'eth_getLogs' && Array.isArray(answer.result))
      return { result: (answer.result as RawLog[]).filter((log) => !isHidden(log.transactionHash)) };
    if (!call.method.startsWith('eth_getBlockBy') || !answer.result) return undefined;
    const transactions = (answer.result as { transactions: string[] }).transactions.filter((hash) => !isHidden(hash));
    return { result: { ...answer.result, transactions, logsBloom: `0x${'0'.repeat(512)}` } };
  };

/** Makes a node show another amount or sender of every transfer, both in events and in receipts. */
export const misstating =
  (what: 'amount' | 'sender') =>
  (call: Call, answer: Answer): Partial<Answer> | undefined => {
    const misstate = (log: RawLog): RawLog =>
      what === 'amount'
        ? { ...log, data: `${log.data.slice(0, -1)}f` }
        : { ...log, topics: log.topics.with(1, log.topics[2]!) };
    if (call.method === 'eth_getLogs') return { result: (answer.result as RawLog[]).map(misstate) };
    const receipt = answer.result as { logs: RawLog[] } | null;
    if (call.method !== 'eth_getTransactionReceipt' || receipt === null) return undefined;
    return { result: { ...receipt, logs: receipt.logs.map(misstate) } };
  };

/** Makes a node show a chain other than the real one: every hash differs, and the blocks are linked. */
export const onAnotherChain = (call: Call, answer: Answer): Partial<Answer> | undefined => {
  if (!call.method.startsWith('eth_getBlockByNumber') || !answer.result) return undefined;
  const block = answer.result as { hash: string; parentHash: string };
  const other = (hash: string) => `0xffffffff${hash.slice(10)}`;
  return { result: { ...block, hash: other(block.hash), parentHash: other(block.parentHash) } };
};

export type ShownIncident = {
  incident_id: string;
  kind: string;
  network: string;
  detail: Record<string, unknown>;
  times: number;
  resolved_at: string | null;
  resolved_by: string | null;
  resolved_reason: string | null;
};

/** Oldest first. */
export async function incidentsOf(watcher: RunningWatcher, status: 'open' | 'all' = 'open'): Promise<ShownIncident[]> {
  const { body } = await watcher.call('GET', `/internal/v1/incidents?status=${status}`);
  return (body as { incidents: ShownIncident[] }).incidents.toReversed();
}

/** The cursor's heights; −1 for one that is not set. */
export async function heightsOf({ pool }: World): Promise<{ audited: number; final: number; tip: number }> {
  const { rows } = await pool.query<Record<'audited' | 'final' | 'tip', bigint | null>>(
    'select audited_number as audited, final_number as final, number as tip from cursor where network = $1',
    ['local'],
  );
  const [row] = rows;
  return { audited: Number(row?.audited ?? -1), final: Number(row?.final ?? -1), tip: Number(row?.tip ?? -1) };
}

/** A node that answers everything except requests for the events of a range, which wait forever. */
export async function unansweringNode(rpcUrl: string) {
  let waiting: ServerResponse | null = null;
  const server = createServer((request, response) => {
    void readText(request).then(async (body) => {
      if (body.includes('"fromBlock"')) {
        waiting = response;
        response.once('close', () => (waiting = null));
        return;
      }
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(rpcUrl, { method: 'POST', headers, body });
      response.writeHead(200, headers).end(await answer.text());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The request that waits now. */
    waiting: () => waiting,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
