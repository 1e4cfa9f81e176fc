import { WalletError, type Answers, type TestWallet } from './wallet.ts';

export const ACCOUNT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const TRON_ACCOUNT = 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7';
export const HASH = `0x${'5a'.repeat(32)}`;
export const TRON_HASH = 'a5'.repeat(32);

const hex = (value: number | bigint): string => `0x${value.toString(16)}`;
const word = (value: bigint): string => value.toString(16).padStart(64, '0');

export type Holdings = {
  chainId?: number;
  /** Chains that it can switch to. */
  knows?: number[];
  /** Base units of the token, and of the coin for fees. */
  tokens?: bigint;
  coins?: bigint;
};

/** An honest EVM wallet without a chain behind it, except for the answers that a test replaces. */
export function evmWallet(
  { chainId = 1, knows = [1], tokens = 10n ** 12n, coins = 10n ** 18n }: Holdings = {},
  answers: Answers = {},
  name = 'Test Wallet',
): TestWallet {
  const state = { chainId, known: new Set(knows) };
  const change = (asked: unknown): null => {
    const wanted = Number((asked as { chainId: string }).chainId);
    if (!state.known.has(wanted)) throw new WalletError({ code: 4902, message: 'Unrecognized chain ID.' });
    state.chainId = wanted;
    return null;
  };
  return {
    family: 'evm',
    name,
    asked: [],
    answers: {
      eth_requestAccounts: () => [ACCOUNT],
      eth_chainId: () => hex(state.chainId),
      wallet_switchEthereumChain: change,
      wallet_addEthereumChain: (asked) => {
        state.known.add(Number((asked as { chainId: string }).chainId));
        return change(asked);
      },
      eth_call: () => `0x${word(tokens)}`,
      eth_estimateGas: () => hex(60_000),
      eth_gasPrice: () => hex(2_000_000_000),
      eth_getBalance: () => hex(coins),
      eth_sendTransaction: () => HASH,
      eth_getTransactionReceipt: () => null,
      ...answers,
    },
  };
}

/** The same for Tron, by the names of TronWeb. */
export function tronWallet(
  { chainId = 728126428, knows = [], tokens = 10n ** 12n, coins = 10n ** 9n }: Holdings = {},
  answers: Answers = {},
  name = 'TronLink',
): TestWallet {
  let current = chainId;
  return {
    family: 'tron',
    name,
    asked: [],
    answers: {
      eth_requestAccounts: () => [TRON_ACCOUNT],
      tron_requestAccounts: () => ({ code: 200, message: 'User allowed the request.' }),
      wallet_switchEthereumChain: (asked) => {
        const wanted = Number((asked as { chainId: string }).chainId);
        if (!knows.includes(wanted)) throw new WalletError({ code: 4902, message: 'Unrecognized chain ID.' });
        current = wanted;
      },
      defaultAddress: () => TRON_ACCOUNT,
      'trx.getBlock': () => ({ blockID: current.toString(16).padStart(64, '0') }),
      'trx.getAccountResources': () => ({ EnergyLimit: 1_000, EnergyUsed: 1_000 }),
      'trx.getChainParameters': () => [{ key: 'getEnergyFee', value: 100 }],
      'trx.getBalance': () => Number(coins),
      'trx.getTransactionInfo': () => ({}),
      'transactionBuilder.triggerConstantContract': (_token, call) =>
        call === 'balanceOf(address)'
          ? { result: { result: true }, constant_result: [word(tokens)] }
          : { result: { result: true }, energy_used: 64_285 },
      'transactionBuilder.triggerSmartContract': () => ({ result: { result: true }, transaction: { txID: TRON_HASH } }),
      'trx.sign': (transaction) => ({ ...(transaction as object), signature: ['00'] }),
      'trx.sendRawTransaction': () => ({ result: true, txid: TRON_HASH }),
      ...answers,
    },
  };
}
