import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';

/**
 * How Tether's contracts are asked whether they have frozen a wallet, the first four bytes of keccak256 each: `isBlackListed(address)`, on
 * Ethereum, Tron and other older deployments, and `isBlocked(address)`, on newer ones, such as those on Arbitrum and Polygon.
 */
export const blacklistQuestions = ['0xe47d6060', '0xfbac3951'] as const;

export type BlacklistQuestion = (typeof blacklistQuestions)[number];

/**
 * Asks a token whether it has frozen a wallet.
 * @param wallet 20 bytes as 0x and lowercase hex.
 * @param questions in turn, until the contract knows one.
 * @returns the question that it knows, and its answer; null when it knows none.
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

/** A contract without such a function reverts, which every node words in its own way. @throws RpcError of any other kind. */
function orNothing(error: unknown): null {
  if (error instanceof RpcError && error.kind === 'unknown' && error.isAnswer) return null;
  throw error;
}
