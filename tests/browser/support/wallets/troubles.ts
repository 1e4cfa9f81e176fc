import { evmWallet, tronWallet } from './simulated.ts';
import { refused, WalletError, type TestWallet } from './wallet.ts';

/** What a wallet does, what the page says then, how often the wallet is asked to send, and whether the reader can simply try again. */
export const troubles: [
  name: string,
  wallet: () => TestWallet,
  text: string | RegExp,
  sent: number,
  canRetry: boolean,
][] = [
  ['lets nobody in', () => evmWallet({}, { eth_requestAccounts: refused }), /^You declined/, 0, true],
  ['gives no account', () => evmWallet({}, { eth_requestAccounts: () => [] }), /error. Nothing was sent/, 0, true],
  [
    'is already asking',
    () => evmWallet({}, { eth_requestAccounts: () => fail(-32002) }),
    'Open your wallet and confirm the payment there.',
    ...([0, true] as const),
  ],
  [
    'does not change its chain',
    () => evmWallet({ chainId: 56 }, { wallet_switchEthereumChain: refused }),
    /^You declined/,
    0,
    true,
  ],
  [
    'cannot change its chain',
    () => evmWallet({ chainId: 56 }, { wallet_switchEthereumChain: () => fail(4200) }),
    /another network/,
    0,
    true,
  ],
  ['does not know the chain', () => evmWallet({ chainId: 56, knows: [] }), /Choose Ethereum there/, 0, true],
  [
    'says that it changed its chain, and did not',
    () => evmWallet({ chainId: 56 }, { wallet_switchEthereumChain: () => null }),
    ...([/another network/, 0, true] as const),
  ],
  [
    'is on a chain without the token, whatever it says',
    () => evmWallet({}, { eth_call: () => '0x' }),
    /another network/,
    0,
    true,
  ],
  [
    'has too little',
    () => evmWallet({ tokens: 1_249_499_999n }),
    'This account has less than 1249.50 USDT on Ethereum. Nothing was sent.',
    0,
    true,
  ],
  ['has nothing for the fee', () => evmWallet({ coins: 1n }), /not have enough Ethereum for the network fee/, 0, true],
  ['is declined at last', () => evmWallet({}, { eth_sendTransaction: refused }), /^You declined/, 1, true],
  [
    'finds too little for the fee itself',
    () => evmWallet({}, { eth_sendTransaction: () => fail(-32000, 'insufficient funds for gas * price + value') }),
    /enough Ethereum/,
    1,
    true,
  ],
  [
    'refuses the request',
    () => evmWallet({}, { eth_sendTransaction: () => fail(-32602) }),
    /error. Nothing was sent/,
    1,
    true,
  ],
  [
    'fails while it sends',
    () => evmWallet({}, { eth_sendTransaction: () => fail(-32603) }),
    /may have been sent/,
    1,
    false,
  ],
  ['answers with no hash', () => evmWallet({}, { eth_sendTransaction: () => 'done' }), /may have been sent/, 1, false],
  ['is TronLink and lets nobody in', () => tronWallet({}, { eth_requestAccounts: refused }), /^You declined/, 0, true],
  ['is TronLink and locked', () => tronWallet({}, { defaultAddress: () => false }), /^Open your wallet/, 0, true],
  ['is TronLink on a test network', () => tronWallet({ chainId: 0xcd8690dc }), /Choose Tron there/, 0, true],
  ['is TronLink with too little', () => tronWallet({ tokens: 1n }), /less than 1249.50 USDT on Tron/, 0, true],
  ['is TronLink without energy and TRX', () => tronWallet({ coins: 1_000_000n }), /not have enough Tron/, 0, true],
  [
    'is TronLink and declined',
    () => tronWallet({}, { 'trx.sign': () => fail('Confirmation declined by user') }),
    /^You declined/,
    1,
    true,
  ],
  [
    'is TronLink, and the node refuses',
    () => tronWallet({}, { 'trx.sendRawTransaction': () => ({ code: 'SIGERROR' }) }),
    /error. Nothing was sent/,
    1,
    true,
  ],
  [
    'is TronLink, and the node is lost',
    () => tronWallet({}, { 'trx.sendRawTransaction': () => fail('timeout of 30000ms exceeded') }),
    /may have been sent/,
    1,
    false,
  ],
];

function fail(code: number | string, message = 'something'): never {
  throw new WalletError(typeof code === 'string' ? code : { code, message });
}
