import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';

/**
 * The functions of Tether's contracts that say whether a wallet is frozen, as the first four bytes of their keccak256:
 * `isBlackListed(address)` on Ethereum, Tron and other older deployments, `isBlocked(address)` on newer ones such as Arbitrum and Polygon.
 */
export const blacklistQuestions = ['0xe47d6060', '0xfbac3951'] as const;

export type BlacklistQuestion = (typeof blacklistQuestions)[number];

/**
 * Asks a token whether it has frozen a wallet.
 * @param wallet 20 bytes as 0x and lowercase hex.
 * @param questions tried in turn until the contract answers one.
 * @returns the question that it answered, and the answer; null when it has none of these functions.
 * @throws RpcError when the node does not answer.
 */
export async function readBlacklisted(
  rpc: RpcProvider,
  { token }: { token: string },
  wallet: string,
  questions: readonly BlacklistQuestion[] = blacklistQuestions,
): Promise<{ question: BlacklistQuestion; isBlacklisted: boolean } | null> {
  for (const question of questions) {
    const data = `${question}${wallet.slice(2).padStart(64, '0')}`;
    const answer = await rpc.send('eth_call', [{ to: token, data }, 'latest']).catch(orNothing);
    const word = /^0x0{63}([01])$/.exec(String(answer))?.[1];
    if (word !== undefined) return { question, isBlacklisted: word === '1' };
  }
  return null;
}

/** A contract without the function reverts, and every node words that differently. @throws RpcError of any other kind. */
function orNothing(error: unknown): null {
  if (error instanceof RpcError && error.kind === 'unknown' && error.isAnswer) return null;
  throw error;
}
