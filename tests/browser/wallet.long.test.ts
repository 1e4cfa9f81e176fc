import { describe, expect, test } from '@jest/globals';
import { walletAppLink, walletApps } from '@quittance/checkout-page/wallet-apps.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Page } from 'playwright-core';
import type { Device } from './support/browser.ts';
import { checkout, EVM_WALLET } from './support/checkouts.ts';
import { accessibilityProblems, layoutProblems } from './support/look.ts';
import { languageCodes } from './support/language-codes.ts';
import { useStage } from './support/use-stage.ts';
import {
  offers,
  onEthereum,
  onTron,
  openWith,
  payButtons,
  press,
  says,
  shows,
  type Opening,
} from './support/wallets/panel.ts';
import { ACCOUNT, evmWallet, HASH, TRON_ACCOUNT, TRON_HASH, tronWallet } from './support/wallets/simulated.ts';
import { troubles } from './support/wallets/troubles.ts';
import { giveWallets, methodsOf, sendings, silent, type TestWallet } from './support/wallets/wallet.ts';

const opened = useStage();

const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const MINUTE_MS = 60_000;

const open = (wallets: TestWallet[], opening: Opening = {}) => openWith(opened, wallets, opening);

async function expectWellMade(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await accessibilityProblems(page)]).toEqual([colorScheme, []]);
  }
  expect(await layoutProblems(page)).toEqual([]);
}

const SENT = 'Sent. Waiting for the network. Please do not pay again.';
const word = (value: string) => value.replace(/^0x/, '').toLowerCase().padStart(64, '0');
const transfer = (units: bigint) => ({
  from: ACCOUNT,
  to: USDT,
  value: '0x0',
  data: `0xa9059cbb${word(EVM_WALLET)}${word(units.toString(16))}`,
});

describe.each(['phone', 'desktop'] as const)('on a %s', (device) => {
  test('one press pays the exact amount to the address on the page, with nothing to type', async () => {
    const wallet = evmWallet();
    const { page } = await open([wallet], { device });
    expect(await payButtons(page).allInnerTexts()).toEqual(['Pay with Test Wallet']);
    await expectWellMade(page);
    await press(page);
    await shows(page, SENT);
    expect(sendings(wallet)).toEqual([{ method: 'eth_sendTransaction', params: [transfer(1_249_500_000n)] }]);
    expect([await payButtons(page).count(), await offers(page)]).toEqual([0, []]);
    await expectWellMade(page);
  });

  test('one press pays on Tron', async () => {
    const wallet = tronWallet();
    const { page } = await open([wallet], { device });
    await press(page);
    await shows(page, SENT);
    expect(wallet.asked.find(({ method }) => method.endsWith('triggerSmartContract'))?.params).toEqual([
      'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      'transfer(address,uint256)',
      { feeLimit: 100_000_000, callValue: 0 },
      [
        { type: 'address', value: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' },
        { type: 'uint256', value: '1249500000' },
      ],
      TRON_ACCOUNT,
    ]);
    expect(sendings(wallet)).toHaveLength(1);
    await expectWellMade(page);
  });
});

describe.each(troubles)('a wallet that %s', (_, make, text, sent, canRetry) => {
  test('is said in words, and nothing is sent twice', async () => {
    const wallet = make();
    const { page } = await open([wallet]);
    await press(page);
    await shows(page, text);
    expect(sendings(wallet)).toHaveLength(sent);
    expect(await payButtons(page).count()).toBe(canRetry ? 1 : 0);
    if (canRetry) expect(await payButtons(page).first().isEnabled()).toBe(true);
    else expect(await offers(page)).toEqual(['It was not sent: try again']);
    expect(await layoutProblems(page)).toEqual([]);
  });
});

describe('wallets are found', () => {
  test('each has a button with its name, which is text whatever it holds', async () => {
    const names = ['One', '<b>Two</b> \u202eeerhT', 'A name that is longer than anybody would read aloud'];
    const { page } = await open(
      names.map((name) => evmWallet({}, {}, name)),
      { device: 'smallPhone' },
    );
    expect((await payButtons(page).allTextContents()).map((text) => text.replace('Pay with ', ''))).toEqual(
      names.map((name) => name.slice(0, 40)),
    );
    expect(await page.locator('.wallet-buttons b').count()).toBe(0);
    await expectWellMade(page);
  });

  test('also when one announces itself long after the page was loaded', async () => {
    const wallet = evmWallet();
    const { page } = await open([wallet], { announces: 'late' });
    expect(await payButtons(page).count()).toBe(0);
    await page.evaluate(`window['announce 0'](); window['announce 0']();`);
    expect(await payButtons(page).count()).toBe(1);
    await press(page);
    await shows(page, SENT);
  });

  test.each([evmWallet, tronWallet])('also without an announcement', async (make) => {
    const wallet = make();
    const { page } = await open([wallet], { announces: 'never' });
    expect(await payButtons(page).allInnerTexts()).toEqual(['Pay with the wallet in this browser']);
    await press(page);
    await shows(page, SENT);
    expect(sendings(wallet)).toHaveLength(1);
  });

  test('but not for another family of networks', async () => {
    const { page } = await open([tronWallet()], { state: onEthereum });
    expect(await payButtons(page).count()).toBe(0);
  });
});

test('a wallet that does not know the chain gets it added, with public data only', async () => {
  const wallet = evmWallet({ chainId: 1, knows: [1] });
  const { page } = await open([wallet], { state: { network: 'polygon', merchant_wallet: EVM_WALLET } });
  await press(page);
  await shows(page, SENT);
  expect(wallet.asked.find(({ method }) => method === 'wallet_addEthereumChain')?.params).toEqual([
    {
      chainId: '0x89',
      chainName: 'Polygon Mainnet',
      nativeCurrency: { name: 'POL', symbol: 'POL', decimals: 18 },
      rpcUrls: ['https://polygon.example/rpc'],
      blockExplorerUrls: ['https://polygonscan.com'],
    },
  ]);
  const methods = methodsOf(wallet);
  expect(methods.lastIndexOf('eth_chainId')).toBe(methods.indexOf('eth_sendTransaction') - 1);
});

test('a reader without coins for the fee can try anyway, because somebody else may pay it', async () => {
  const wallet = evmWallet({ coins: 0n });
  const { page } = await open([wallet]);
  await press(page);
  await shows(page, /network fee/);
  expect(await offers(page)).toEqual(['Try anyway']);
  await page.getByText('Try anyway').click();
  await shows(page, SENT);
  expect(sendings(wallet)).toHaveLength(1);
});

describe('nothing is paid twice', () => {
  test('by a double click, or by a second button', async () => {
    const wallets = [evmWallet({}, {}, 'One'), evmWallet({}, {}, 'Two')];
    const { page } = await open(wallets);
    await page.evaluate(
      `for (const button of document.querySelectorAll('.wallet-buttons button')) { button.click(); button.click(); }`,
    );
    await shows(page, SENT);
    expect(wallets.flatMap(sendings)).toHaveLength(1);
  });

  test.each([evmWallet, tronWallet])('by a reload after it was sent', async (make) => {
    const wallet = make();
    const { page } = await open([wallet]);
    await press(page);
    await shows(page, SENT);
    await page.reload();
    await shows(page, SENT);
    expect([await payButtons(page).count(), await offers(page)]).toEqual([0, []]);
    expect(await page.locator('.wallet-link:visible').count()).toBe(0);
    expect(sendings(wallet)).toHaveLength(1);
  });

  test('by a reload while the wallet asks; the reader’s word is needed then', async () => {
    const wallet = evmWallet({}, { eth_sendTransaction: silent });
    const { page } = await open([wallet]);
    await press(page);
    await eventually(() => expect(sendings(wallet)).toHaveLength(1), { intervalMs: 50 });
    await page.reload();
    await shows(page, /already sent/);
    expect(await payButtons(page).count()).toBe(0);
    await expectWellMade(page);
    await page.getByText('It was not sent: try again').click();
    expect(await says(page)).toBe('');
    expect(await payButtons(page).count()).toBe(1);
    expect(sendings(wallet)).toHaveLength(1);
  });

  test('by a wallet that answers after the page has stopped waiting', async () => {
    const answer = Promise.withResolvers<string>();
    const wallet = evmWallet({}, { eth_sendTransaction: () => answer.promise });
    const { page } = await open([wallet], { hasClock: true });
    await press(page);
    await eventually(() => expect(sendings(wallet)).toHaveLength(1), { intervalMs: 50 });
    expect(await says(page)).toBe('Open your wallet and confirm the payment there.');
    expect(await payButtons(page).first().isDisabled()).toBe(true);
    await page.clock.runFor(MINUTE_MS);
    await shows(page, /^Your wallet has not answered/);
    expect(await offers(page)).toEqual(['It was not sent: try again']);
    answer.resolve(HASH);
    await shows(page, SENT);
    expect(await payButtons(page).count()).toBe(0);
  });

  test('by an attempt that was given up, when its wallet answers after all', async () => {
    const first = Promise.withResolvers<string[]>();
    let times = 0;
    const wallet = evmWallet({}, { eth_requestAccounts: () => ((times += 1) === 1 ? first.promise : [ACCOUNT]) });
    const { page } = await open([wallet], { hasClock: true });
    await press(page);
    await page.clock.runFor(MINUTE_MS);
    await page.getByText('It was not sent: try again').click();
    await press(page);
    await shows(page, SENT);
    first.resolve([ACCOUNT]);
    await eventually(() => expect(methodsOf(wallet).filter((method) => method === 'eth_gasPrice')).toHaveLength(2), {
      intervalMs: 50,
    });
    await page.clock.runFor(1_000);
    expect(sendings(wallet)).toHaveLength(1);
    expect(await says(page)).toBe(SENT);
  });

  test('after what is missing has changed, except by the reader’s word', async () => {
    const wallet = evmWallet();
    const own = { ...onEthereum, received: { amount: '0', missing: '1249.5' } };
    const { page, url } = await open([wallet], { state: own, hasClock: true });
    await press(page);
    await shows(page, SENT);
    opened.stage.change(url, checkout('waiting', { ...own, received: { amount: '1200', missing: '49.5' } }));
    await eventually(async () => {
      await page.clock.runFor(5_000);
      expect(await says(page)).toMatch(/^You have already sent/);
    });
    expect([await payButtons(page).count(), await offers(page)]).toEqual([0, ['Pay the rest']]);
    await expectWellMade(page);
    await page.getByText('Pay the rest').click();
    await press(page);
    await shows(page, SENT);
    expect(sendings(wallet).map(({ params }) => params[0])).toEqual([transfer(1_249_500_000n), transfer(49_500_000n)]);
  });
});

test.each([
  [evmWallet, { eth_getTransactionReceipt: () => ({ transactionHash: HASH, status: '0x0' }) }],
  [tronWallet, { 'trx.getTransactionInfo': () => ({ id: TRON_HASH, receipt: { result: 'OUT_OF_ENERGY' } }) }],
] as const)('a transfer that the network rejected is said, and can be made again', async (make, answers) => {
  const wallet = make({}, answers);
  const { page } = await open([wallet], { hasClock: true });
  await press(page);
  await shows(page, SENT);
  await page.clock.runFor(5_000);
  await shows(page, /^The network rejected/);
  expect(await payButtons(page).first().isEnabled()).toBe(true);
});

test('neither the account nor the transaction leaves the tab', async () => {
  const wallet = evmWallet();
  const { page, context } = await opened.browser.visit({ device: 'desktop' });
  const requests: string[] = [];
  context.on('request', (request) => {
    requests.push(JSON.stringify([request.url(), request.headers(), request.postData()]).toLowerCase());
  });
  await giveWallets(context, [wallet]);
  await page.clock.install();
  const url = opened.stage.show(checkout('waiting', onEthereum));
  await page.goto(url);
  await press(page);
  await shows(page, SENT);
  for (const state of ['seen', 'paid'] as const) {
    opened.stage.change(url, checkout(state, onEthereum));
    await eventually(async () => {
      await page.clock.runFor(4_001);
      expect(await page.locator('main').getAttribute('data-state')).toBe(state);
    });
  }
  expect(requests.length).toBeGreaterThan(6);
  for (const secret of [ACCOUNT, HASH].map((text) => text.slice(2).toLowerCase())) {
    expect(requests.filter((request) => request.includes(secret))).toEqual([]);
    expect((await page.content()).toLowerCase()).not.toContain(secret);
  }
});

describe('without a wallet in the browser', () => {
  const visible = (page: Page) =>
    Promise.all(['.wallet-link', '.wallet-apps', '.wallet-buttons'].map((part) => page.locator(part).isVisible()));

  test.each([
    ['desktop', true, [false, false, false]],
    ['desktop', false, [true, false, false]],
    ['phone', true, [true, true, false]],
    ['phone', false, [true, false, false]],
  ] as [Device, boolean, boolean[]][])(
    'a %s, with script: %s, shows no button that opens nothing',
    async (device, javaScriptEnabled, shown) => {
      for (const state of [onTron, onEthereum]) {
        const { page } = await open([], { device, javaScriptEnabled, state });
        expect([state, await visible(page)]).toEqual([state, shown]);
        if (javaScriptEnabled) await expectWellMade(page);
      }
    },
  );

  test.each([
    ['evm', onEthereum],
    ['tron', onTron],
  ] as const)(
    'a phone has links to apps that can pay on %s, with the page and the chosen language',
    async (family, state) => {
      const { page, url } = await open([], {
        device: 'phone',
        state,
        query: '?lang=es&qr=link',
      });
      const links = await page.locator('.wallet-apps a').all();
      const apps = walletApps.filter(({ families }) => families.includes(family));
      expect(apps.length).toBeGreaterThan(1);
      expect(await Promise.all(links.map((link) => link.getAttribute('href')))).toEqual(
        apps.map((app) => walletAppLink(app, `${url}?lang=es`)),
      );
    },
  );
});

test.each(languageCodes)('every text of a wallet fits in %s', async (language) => {
  for (const wallets of [[evmWallet()], []]) {
    const { page } = await open(wallets, { device: 'smallPhone', state: onEthereum, query: `?lang=${language}` });
    await page.evaluate(
      `for (const part of document.querySelectorAll('[data-says], [data-offers]')) part.hidden = false`,
    );
    expect(await layoutProblems(page)).toEqual([]);
    // What a program can check is the same in every language, except for the direction.
    if (['en', 'ar'].includes(language)) await expectWellMade(page);
  }
});

test('the page and its wallet work from right to left', async () => {
  const wallet = evmWallet({ tokens: 0n });
  const { page } = await open([wallet], { device: 'phone', query: '?lang=ar' });
  await press(page);
  await shows(page, /1249.50|١٢٤٩/);
  expect(await page.locator('[data-says]:visible bdi').first().innerText()).toMatch(/USDT$/);
  await expectWellMade(page);
});
