import { getCreateAddress, Interface, toBeHex } from 'ethers';
import { rpc } from '../rpc.ts';
import { readArtifact } from './compile.ts';

/** Accounts of anvil that each deploy and own a token: one for the local network and one for Tron. */
export const tokenOwners = {
  local: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  tron: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
};
/** anvil's second account: the customer. Its key is printed by anvil itself. */
export const payer = {
  address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  privateKey: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
};

export type BatchPayment = { to: string; units: bigint };

export type Token = {
  address: string;
  decimals: number;
  /** Sends units from the payer and waits for the block. Returns the transaction's hash, 0x…. */
  pay(to: string, units: bigint): Promise<string>;
  /** Several transfers of the payer in one transaction. */
  payBatch(payments: BatchPayment[]): Promise<string>;
  /**
   * Prepares the transaction, to be sent later any number of times. Encoding a hundred payments takes milliseconds,
   * which measurements must not include.
   */
  prepareBatch(payments: BatchPayment[]): () => Promise<string>;
  mint(to: string, units: bigint): Promise<string>;
  /** Takes a fee of this many hundredths of a per cent from each transfer from now on; 0 ends it. */
  setFee(basisPoints: number): Promise<string>;
  /** Freezes a wallet as Tether's contract does, or clears it. */
  setBlackListed(address: string, isBlackListed: boolean): Promise<string>;
  balanceOf(address: string): Promise<bigint>;
};

const artifact = readArtifact();
const contract = new Interface(artifact.abi);

/** Enough for any number of tests, and far from overflowing. */
const payerStock = 10n ** 15n;

/**
 * The test USDT on this chain. Deploys it, with a payer that has plenty of it, if the chain doesn't have it yet.
 * @throws Error when the chain is not a new anvil and has no token either.
 */
export async function ensureToken(
  rpcUrl: string,
  { decimals = 6, owner = tokenOwners.local }: { decimals?: number; owner?: string } = {},
): Promise<Token> {
  // The contract of the owner's first transaction: the same address on every chain.
  const address = getCreateAddress({ from: owner, nonce: 0 });
  const sendData = async (from: string, data: string) =>
    (await transact(rpcUrl, { from, to: address, data })).transactionHash;
  const send = (from: string, method: string, args: unknown[]) =>
    sendData(from, contract.encodeFunctionData(method, args));
  const prepareBatch: Token['prepareBatch'] = (payments) => {
    const args = [payments.map(({ to }) => to), payments.map(({ units }) => units)];
    const data = contract.encodeFunctionData('batchTransfer', args);
    return () => sendData(payer.address, data);
  };
  const call = async (method: string, args: unknown[]): Promise<unknown[]> => {
    const data = contract.encodeFunctionData(method, args);
    const answer = await rpc<string>(rpcUrl, 'eth_call', [{ to: address, data }, 'latest']);
    return contract.decodeFunctionResult(method, answer).toArray() as unknown[];
  };
  if ((await rpc<string>(rpcUrl, 'eth_getCode', [address, 'latest'])) === '0x') {
    await deploy(rpcUrl, owner, address, decimals);
    await send(owner, 'mint', [payer.address, payerStock * 10n ** BigInt(decimals)]);
  }
  const [storedDecimals] = await call('decimals', []);
  return {
    address,
    decimals: Number(storedDecimals),
    pay: (to, units) => send(payer.address, 'transfer', [to, units]),
    payBatch: (payments) => prepareBatch(payments)(),
    prepareBatch,
    mint: (to, units) => send(owner, 'mint', [to, units]),
    setFee: (basisPoints) => send(owner, 'setFee', [basisPoints]),
    setBlackListed: (wallet, isListed) => send(owner, isListed ? 'addBlackList' : 'removeBlackList', [wallet]),
    balanceOf: async (holder) => (await call('balanceOf', [holder]))[0] as bigint,
  };
}

async function deploy(rpcUrl: string, owner: string, address: string, decimals: number): Promise<void> {
  const data = artifact.bytecode + contract.encodeDeploy([decimals]).slice(2);
  const { contractAddress } = await transact(rpcUrl, { from: owner, data });
  if (contractAddress?.toLowerCase() !== address.toLowerCase()) {
    throw new Error(`The test token came to lie at ${contractAddress}, not ${address}: the chain is not a fresh one.`);
  }
}

type Receipt = { transactionHash: string; status: string; contractAddress: string | null };

/** anvil signs for its own accounts and keeps their nonces. */
async function transact(rpcUrl: string, transaction: Record<string, string>): Promise<Receipt> {
  const hash = await submit(rpcUrl, { gas: toBeHex(5_000_000), ...transaction });
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const receipt = await rpc<Receipt | null>(rpcUrl, 'eth_getTransactionReceipt', [hash]);
    if (receipt) {
      if (receipt.status !== '0x1') throw new Error(`Transaction ${hash} was reverted`);
      return receipt;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`Transaction ${hash} was not mined within 60 seconds`);
}

const submissions = 50;

/**
 * When two transactions of one account arrive at the same moment, anvil gives both the same nonce and refuses the
 * second, even an identical one. The refused one is sent again.
 */
async function submit(rpcUrl: string, transaction: Record<string, string>): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await rpc<string>(rpcUrl, 'eth_sendTransaction', [transaction]);
    } catch (error) {
      const isNonceTaken = /replacement transaction underpriced|nonce too low|already imported/.test(String(error));
      if (!isNonceTaken || attempt === submissions) throw error;
    }
  }
}
