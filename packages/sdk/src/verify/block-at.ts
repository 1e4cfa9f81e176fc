/** What an endpoint says about the block at a height. */
export type EndpointBlock = { hash: string; transactionIds: string[] };

const TIMEOUT_MS = 15_000;

/**
 * Asks a JSON-RPC endpoint for a block.
 * @throws Error when it does not answer, is of another chain or has no such block.
 */
export async function blockAt(url: string, chainId: number, number: number): Promise<EndpointBlock> {
  const chain = Number(await call(url, 'eth_chainId', []));
  if (chain !== chainId) throw new Error(`the endpoint is of chain ${chain}, the proof of chain ${chainId}`);
  const block = await call(url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);
  const { hash, transactions } = (block ?? {}) as { hash?: unknown; transactions?: unknown };
  if (typeof hash !== 'string' || !Array.isArray(transactions)) throw new Error(`the endpoint has no block ${number}`);
  return { hash, transactionIds: transactions.map((id) => String(id).toLowerCase().replace(/^0x/, '')) };
}

async function call(url: string, method: string, params: unknown[]): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new Error(`the endpoint does not answer: ${(error as Error).message}`);
  });
  const body = (await answer.json().catch(() => null)) as { result?: unknown; error?: { message?: string } } | null;
  if (!answer.ok || body === null || body.error !== undefined)
    throw new Error(
      `the endpoint answered ${answer.status}${body?.error?.message === undefined ? '' : `: ${body.error.message}`}`,
    );
  return body.result;
}
