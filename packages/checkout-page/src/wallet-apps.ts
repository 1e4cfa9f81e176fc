import type { AddressFamily } from '@quittance/contracts/address.ts';

/** A wallet app that opens a page in its own browser, where the page can ask it for the payment. */
export type WalletApp = {
  name: string;
  /** For networks of these families; its browser gives pages a wallet for them. */
  families: readonly AddressFamily[];
  /** `{page}` stands for the address of the page. */
  link: string;
  /** How often the address is percent-encoded there; 0 is the bare address without its scheme. */
  encoded: 0 | 1 | 2;
  /** Where the app's maker describes the link. */
  source: string;
};

/**
 * A link leads to the page, not to a transfer: of all these apps only some take an amount of a token from a link, each in its own way.
 * Links of the makers' own hosts also work without the app, and then tell its maker the page's address; the others open nothing then.
 */
export const walletApps: readonly WalletApp[] = [
  {
    name: 'MetaMask',
    families: ['evm'],
    link: 'https://link.metamask.io/dapp/{page}',
    encoded: 0,
    source: 'https://docs.metamask.io/metamask-connect/evm/guides/metamask-exclusive/use-deeplinks/',
  },
  {
    name: 'Trust Wallet',
    families: ['evm'],
    link: 'https://link.trustwallet.com/open_url?coin_id=60&url={page}',
    encoded: 1,
    source: 'https://developer.trustwallet.com/developer/develop-for-trust/deeplinking',
  },
  {
    name: 'TronLink',
    families: ['tron'],
    link: `tronlinkoutside://pull.activity?param=${encodeURIComponent('{"url":"')}{page}${encodeURIComponent('","action":"open","protocol":"TronLink","version":"1.0"}')}`,
    encoded: 1,
    source: 'https://docs.tronlink.org/mobile/deeplink/',
  },
  {
    name: 'OKX Wallet',
    families: ['evm', 'tron'],
    link: `https://web3.okx.com/download?deeplink=${encodeURIComponent('okx://wallet/dapp/url?dappUrl=')}{page}`,
    encoded: 2,
    source: 'https://web3.okx.com/build/docs/waas/app-universal-link',
  },
  {
    name: 'imToken',
    families: ['evm'],
    link: 'imtokenv2://navigate/DappView?url={page}',
    encoded: 1,
    source: 'https://imtoken.gitbook.io/developers/products/deep-linking',
  },
];
