import { addressFromHex } from '@quittance/contracts/address.ts';
import { ensureToken, payer, tokenOwners } from '@quittance/local-backends/token/token.ts';
import { startTronNode } from '@quittance/local-backends/tron/node.ts';
import { requireFreePort } from '@quittance/local-backends/ports.ts';
import { readJson, StackError, type StackDirectory } from './directory.ts';
import type { StackChain } from './stack-file.ts';
import type { Steps } from './steps.ts';

/** Not the id of any public network, so that a real Tron endpoint is never taken for this one. */
const CHAIN_ID = 31_337_001;

/**
 * A node in front of the local chain that answers as Tron's nodes do, and a second test USDT, so that no transfer counts on both networks.
 * It keeps no data and runs in this process.
 */
export async function startTron(chain: StackChain, port: number, steps: Steps): Promise<StackChain> {
  return steps.take(`Tron on ${port}`, async () => {
    await requireFreePort(port, 'the Tron node');
    const node = await startTronNode({ rpcUrl: chain.rpc_url, port, chainId: CHAIN_ID, hasBlockReceipts: false });
    steps.undoLater(() => node.close());
    const token = await ensureToken(chain.rpc_url, { owner: tokenOwners.tron });
    return {
      network: 'tron',
      rpc_url: node.url,
      chain_id: CHAIN_ID,
      token: addressFromHex('tron', token.address),
      decimals: token.decimals,
      payer_address: addressFromHex('tron', payer.address),
      payer_private_key: payer.privateKey,
    };
  });
}

/**
 * Whether this start has a Tron network: if requested, or if an earlier start had one. Its payments may be unfinished, so it comes back
 * with the other data.
 * @throws StackError if it is requested together with a networks file that does not contain it.
 */
export async function wantsTron(options: {
  directory: Pick<StackDirectory, 'networksFile'>;
  environment: NodeJS.ProcessEnv;
  withTron?: boolean;
}): Promise<boolean> {
  const { directory, environment, withTron = false } = options;
  if (environment['NETWORKS_FILE'] !== undefined) {
    if (withTron) throw new StackError('--network tron has no effect with a NETWORKS_FILE of your own: unset it.');
    return false;
  }
  const before = await readJson<{ family?: string }[]>(directory.networksFile);
  return withTron || before?.some(({ family }) => family === 'tron') === true;
}
