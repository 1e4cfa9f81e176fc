import { addressFromHex } from '@quittance/contracts/address.ts';
import { ensureToken, payer, tokenOwners } from '@quittance/local-backends/token/token.ts';
import { startTronNode } from '@quittance/local-backends/tron/node.ts';
import { requireFreePort } from '@quittance/local-backends/ports.ts';
import { readJson, StackError, type StackDirectory } from './directory.ts';
import type { StackChain } from './stack-file.ts';
import type { Steps } from './steps.ts';

/** Of no public network: real Tron endpoints and this one must not be taken for each other. */
const CHAIN_ID = 31_337_001;

/**
 * A node in front of the local chain that answers as Tron's do, and a test USDT of its own, so that no transfer counts on both networks.
 * It keeps nothing and runs in this process.
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
 * Whether this start has one: where it was asked for, and where an earlier start had one. Its payments may be unfinished, so it comes back
 * with the rest of the data.
 * @throws StackError when it was asked for beside a networks file that knows nothing of it.
 */
export async function wantsTron(options: {
  directory: Pick<StackDirectory, 'networksFile'>;
  environment: NodeJS.ProcessEnv;
  withTron?: boolean;
}): Promise<boolean> {
  const { directory, environment, withTron = false } = options;
  if (environment['NETWORKS_FILE'] !== undefined) {
    if (withTron) throw new StackError('--network tron has no effect beside a NETWORKS_FILE of your own: unset it.');
    return false;
  }
  const before = await readJson<{ family?: string }[]>(directory.networksFile);
  return withTron || before?.some(({ family }) => family === 'tron') === true;
}
