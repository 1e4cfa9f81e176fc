import { expect, test } from '@jest/globals';
import { walletAppLink, walletApps } from '../src/wallet-apps.ts';

const PAGE = 'https://pay.example.com/pay/Zk3_x-9?lang=es';

/** What each maker's own page describes, for this page of ours. */
const vectors: Record<string, string> = {
  MetaMask: 'https://link.metamask.io/dapp/pay.example.com/pay/Zk3_x-9?lang=es',
  'Trust Wallet':
    'https://link.trustwallet.com/open_url?coin_id=60&url=https%3A%2F%2Fpay.example.com%2Fpay%2FZk3_x-9%3Flang%3Des',
  TronLink:
    'tronlinkoutside://pull.activity?param=%7B%22url%22%3A%22https%3A%2F%2Fpay.example.com%2Fpay%2FZk3_x-9%3Flang%3Des%22%2C%22action%22%3A%22open%22%2C%22protocol%22%3A%22TronLink%22%2C%22version%22%3A%221.0%22%7D',
  'OKX Wallet':
    'https://web3.okx.com/download?deeplink=okx%3A%2F%2Fwallet%2Fdapp%2Furl%3FdappUrl%3Dhttps%253A%252F%252Fpay.example.com%252Fpay%252FZk3_x-9%253Flang%253Des',
  imToken: 'imtokenv2://navigate/DappView?url=https%3A%2F%2Fpay.example.com%2Fpay%2FZk3_x-9%3Flang%3Des',
};

test('every app has a vector and a public source', () => {
  expect(walletApps.map(({ name }) => name).sort()).toEqual(Object.keys(vectors).sort());
  for (const { source } of walletApps) expect(source).toMatch(/^https:\/\//);
});

test.each(walletApps)('$name opens the page', (app) => {
  expect(walletAppLink(app, PAGE)).toBe(vectors[app.name]);
});

test('the address that an app decodes is the page’s', () => {
  const link = (name: string) =>
    new URL(
      walletAppLink(
        walletApps.find((app) => app.name === name)!,
        PAGE,
      ),
    );
  expect(link('Trust Wallet').searchParams.get('url')).toBe(PAGE);
  expect(link('imToken').searchParams.get('url')).toBe(PAGE);
  expect(JSON.parse(link('TronLink').searchParams.get('param') ?? '')).toEqual({
    ...{ url: PAGE, action: 'open', protocol: 'TronLink', version: '1.0' },
  });
  const okx = new URL(link('OKX Wallet').searchParams.get('deeplink') ?? '');
  expect([okx.protocol, okx.searchParams.get('dappUrl')]).toEqual(['okx:', PAGE]);
});
