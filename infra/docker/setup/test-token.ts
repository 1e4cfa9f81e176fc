import { ensureToken } from '@quittance/local-backends/token/token.ts';
import { required } from './environment.ts';

/**
 * Deploys the test USDT on the development chain at CHAIN_RPC_URL, always at the same address.
 * @throws Error when the chain is neither a new anvil nor one that has the token.
 */
export async function deployTestToken(env: NodeJS.ProcessEnv): Promise<string> {
  const token = await ensureToken(required(env, 'CHAIN_RPC_URL'));
  return `the test USDT is at ${token.address}`;
}
