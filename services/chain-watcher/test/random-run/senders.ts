import { createHash } from 'node:crypto';
import { Interface, Wallet, keccak256 } from 'ethers';
import type { TestChain } from '@quittance/testkit/chain.ts';
import { askNodeAll } from './node-rpc.ts';

/** A signed transaction, with everything needed to move it or to sign another one instead. */
export type Signed = { raw: string; hash: string; sender: number; nonce: number; to: string; data: string };

/** Accounts with our own keys, so that the same transaction can be mined a second time. */
export type Senders = {
  address(sender: number): string;
  sign(sender: number, nonce: number, to: string, data: string): Promise<Signed>;
  /** The next nonces of all senders on the present chain. */
  nonces(): Promise<number[]>;
};

const RICH = 10n ** 13n;
const ETHER = `0x${(10n ** 20n).toString(16)}`;
const GAS = 600_000;
const contract = new Interface([
  'function transfer(address to, uint256 value)',
  'function batchTransfer(address[] to, uint256[] values)',
  'function setFee(uint256 basisPoints)',
  'function mint(address to, uint256 value)',
]);

export const encode = (name: 'transfer' | 'batchTransfer' | 'setFee' | 'mint', ...args: unknown[]): string =>
  contract.encodeFunctionData(name, args);

/** @param tokens contracts of which each sender gets a large balance. */
export async function createSenders(
  chain: TestChain,
  { seed, count, tokens, owner }: { seed: number; count: number; tokens: string[]; owner: string },
): Promise<Senders> {
  const wallets = Array.from({ length: count }, (_, position) => {
    const key = createHash('sha256').update(`${seed} sender ${position}`).digest('hex');
    return new Wallet(`0x${key}`);
  });
  for (const { address } of wallets) await chain.rpc('anvil_setBalance', [address, ETHER]);
  for (const token of tokens) {
    for (const { address } of wallets) {
      const data = encode('mint', address, RICH);
      await chain.rpc('eth_sendTransaction', [{ from: owner, to: token, data, gas: `0x${GAS.toString(16)}` }]);
    }
  }
  return {
    address: (sender) => wallets[sender]!.address,
    async sign(sender, nonce, to, data) {
      const raw = await wallets[sender]!.signTransaction({
        ...{ type: 2, chainId: chain.chainId, nonce, to, data, gasLimit: GAS },
        ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
      });
      const hash = keccak256(raw);
      return { raw, hash, sender, nonce, to, data };
    },
    nonces: async () => {
      const calls = wallets.map(
        ({ address }) => ['eth_getTransactionCount', [address, 'latest'] as unknown[]] as const,
      );
      return (await askNodeAll<string>(chain.rpcUrl, calls)).map(Number);
    },
  };
}
