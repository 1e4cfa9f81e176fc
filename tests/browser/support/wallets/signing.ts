import { addressFromHex, parseAddress } from '@quittance/contracts/address.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { Interface, keccak256, Wallet } from 'ethers';
import { WalletError, type Answers, type TestWallet } from './wallet.ts';

type Chain = Pick<StackFile['chain'], 'rpc_url' | 'chain_id' | 'payer_private_key'>;
type Call = { from?: string; to: string; data: string };

const contract = new Interface(['function transfer(address,uint256)', 'function balanceOf(address)']);

/** Signs with the customer's key and sends to the local chain. @returns the hash. */
async function signAndSend(chain: Chain, { to, data }: Call): Promise<string> {
  return rpc<string>(chain.rpc_url, 'eth_sendRawTransaction', [await sign(chain, { to, data })]);
}

async function sign({ rpc_url: url, chain_id: chainId, payer_private_key: key }: Chain, call: Call): Promise<string> {
  const account = new Wallet(key);
  const nonce = Number(await rpc<string>(url, 'eth_getTransactionCount', [account.address, 'pending']));
  const gasPrice = BigInt(await rpc<string>(url, 'eth_gasPrice'));
  return account.signTransaction({
    to: call.to,
    data: call.data,
    chainId,
    nonce,
    gasLimit: 200_000,
    gasPrice,
    type: 0,
  });
}

/** A wallet of the local chain's customer. It is on Ethereum at first, and does not know the local chain. */
export function signingWallet(chain: Chain, answers: Answers = {}): TestWallet {
  const state = { chainId: 1, isKnown: false };
  const read =
    (method: string) =>
    async (...params: unknown[]) =>
      rpc(chain.rpc_url, method, params);
  const change = (): null => {
    if (!state.isKnown) throw new WalletError({ code: 4902, message: 'Unrecognized chain ID.' });
    state.chainId = chain.chain_id;
    return null;
  };
  const reads = ['eth_call', 'eth_estimateGas', 'eth_gasPrice', 'eth_getBalance', 'eth_getTransactionReceipt'];
  return {
    family: 'evm',
    name: 'Signing Wallet',
    asked: [],
    answers: {
      ...Object.fromEntries(reads.map((method) => [method, read(method)])),
      eth_requestAccounts: () => [new Wallet(chain.payer_private_key).address],
      eth_chainId: () => `0x${state.chainId.toString(16)}`,
      wallet_switchEthereumChain: change,
      wallet_addEthereumChain: () => {
        state.isKnown = true;
        return change();
      },
      eth_sendTransaction: (call) => signAndSend(chain, call as Call),
      ...answers,
    },
  };
}

/**
 * TronLink on the local Tron. Behind that is an Ethereum chain, so it signs a transaction of that chain, whose hash is known only then; the rest
 * is as TronWeb has it.
 * @param chain what is behind `tron`.
 */
export function signingTronWallet(chain: Chain, tron: Pick<StackFile['chain'], 'rpc_url'>): TestWallet {
  const account = new Wallet(chain.payer_private_key).address;
  const hexOf = (address: string) => parseAddress(address)?.hex ?? '';
  const callOf = (token: unknown, signature: unknown, parameters: unknown): Call => ({
    from: account,
    to: hexOf(String(token)),
    data: contract.encodeFunctionData(
      String(signature),
      (parameters as { type: string; value: string }[]).map(({ type, value }) =>
        type === 'address' ? hexOf(value) : value,
      ),
    ),
  });
  return {
    family: 'tron',
    name: 'TronLink',
    asked: [],
    answers: {
      eth_requestAccounts: () => [addressFromHex('tron', account)],
      defaultAddress: () => addressFromHex('tron', account),
      'trx.getBlock': async () => ({
        blockID: BigInt(await rpc<string>(tron.rpc_url, 'eth_chainId'))
          .toString(16)
          .padStart(64, '0'),
      }),
      'trx.getAccountResources': () => ({}),
      'trx.getChainParameters': () => [{ key: 'getEnergyFee', value: 100 }],
      // The coin has 18 decimals there, and TRX has 6.
      'trx.getBalance': async () =>
        Number(BigInt(await rpc<string>(chain.rpc_url, 'eth_getBalance', [account, 'latest'])) / 10n ** 12n),
      'trx.getTransactionInfo': async () => ({}),
      'transactionBuilder.triggerConstantContract': async (token, signature, _options, parameters) => {
        const answer = await rpc<string>(tron.rpc_url, 'eth_call', [callOf(token, signature, parameters), 'latest']);
        return { result: { result: true }, energy_used: 64_285, constant_result: [answer.slice(2)] };
      },
      'transactionBuilder.triggerSmartContract': (token, signature, _options, parameters) => ({
        result: { result: true },
        transaction: { call: callOf(token, signature, parameters) },
      }),
      'trx.sign': async (transaction) => {
        const raw = await sign(chain, (transaction as { call: Call }).call);
        return { raw, txID: keccak256(raw).slice(2) };
      },
      'trx.sendRawTransaction': async (signed) => {
        const { raw } = signed as { raw: string };
        const txid = await rpc<string>(chain.rpc_url, 'eth_sendRawTransaction', [raw]);
        return { result: true, txid: txid.slice(2) };
      },
    },
  };
}
