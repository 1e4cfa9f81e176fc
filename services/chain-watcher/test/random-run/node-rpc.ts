import type { Block, Receipt } from './chain-history.ts';

/** Asks the real node directly, without the service's code. */
export async function askNode<T>(url: string, method: string, params: unknown[] = []): Promise<T> {
  const [answer] = await askNodeAll<T>(url, [[method, params]]);
  return answer as T;
}

/** @returns the results, in the order of the questions. @throws Error with the node's message. */
export async function askNodeAll<T>(url: string, calls: readonly (readonly [string, unknown[]])[]): Promise<T[]> {
  if (calls.length === 0) return [];
  const body = calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }));
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const answers = (await response.json()) as { id: number; result: T; error?: { message: string } }[];
  return answers
    .sort((a, b) => a.id - b.id)
    .map(({ id, result, error }) => {
      if (error) throw new Error(`${calls[id]![0]}: ${error.message}`);
      return result;
    });
}

const BLOCKS_AT_ONCE = 50;

/** The node's blocks `from` to `to` with their receipts. */
export async function readBlocks(
  url: string,
  from: number,
  to: number,
): Promise<{ block: Block; receipts: Receipt[] }[]> {
  const read: { block: Block; receipts: Receipt[] }[] = [];
  for (let first = from; first <= to; first += BLOCKS_AT_ONCE) {
    const heights = Array.from({ length: Math.min(BLOCKS_AT_ONCE, to - first + 1) }, (_, offset) => first + offset);
    const answers = await askNodeAll<unknown>(
      url,
      heights.flatMap((height) => {
        const tag = `0x${height.toString(16)}`;
        return [['eth_getBlockByNumber', [tag, false]] as const, ['eth_getBlockReceipts', [tag]] as const];
      }),
    );
    for (const index of heights.keys()) {
      read.push({ block: answers[2 * index] as Block, receipts: answers[2 * index + 1] as Receipt[] });
    }
  }
  return read;
}
