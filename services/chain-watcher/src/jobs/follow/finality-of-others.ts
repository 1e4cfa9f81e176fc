import { finalityClaim, type FinalityClaim } from '@quittance/chain-reader/chain/finality.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { PollResult } from '@quittance/chain-reader/chain/poll.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { readBlockAt, readFinalized, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import type { ChainView } from '../../term/position.ts';

/**
 * What the other endpoints call final, where the one that is read names no final block: it may just have been started, and some never name
 * one. Their word counts for our chain alone: only up to a block that they have as well.
 * @returns null when none of them names one, or none of them answers.
 */
export async function finalityOfOthers(
  { endpoints, network }: { endpoints: Endpoints; network: ChainNetwork },
  { endpoint }: RpcProvider,
  chain: ChainView,
  blocks: Extract<PollResult, { kind: 'blocks' }>['blocksToStore'],
): Promise<FinalityClaim | null> {
  const tip = blocks.at(-1);
  const matters = network.finality === 'finalized' || network.finalizedAbove !== null;
  if (tip === undefined || !matters || network.endpoints.length < 2) return null;
  const hashAt = (height: number) => blocks.find(({ number }) => number === height)?.hash ?? chain.hashAt(height);

  async function read(rpc: RpcProvider): Promise<FinalityClaim | null> {
    const [head, tagged] = await Promise.all([readHead(rpc), readFinalized(rpc)]);
    const claim = finalityClaim(network, head.number, tagged, true);
    if (claim === null || tip === undefined) return null;
    const height = Math.min(claim.height, tip.number);
    const block = height === tagged?.number ? tagged : await readBlockAt(rpc, height);
    return block !== null && block.hash === hashAt(height) ? { ...claim, height } : null;
  }

  try {
    const answers = await endpoints.askUntil(read, (claims) => claims.at(-1) !== null, endpoint);
    return answers.at(-1) ?? null;
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}
