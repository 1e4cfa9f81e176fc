import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Page } from 'playwright-core';
import type { TestBrowser, VisitOptions } from '../browser.ts';
import { checkout, EVM_WALLET, TRON_WALLET } from '../checkouts.ts';
import type { Stage } from '../stage.ts';
import { giveWallets, type TestWallet, type WalletOptions } from './wallet.ts';

type Opened = { readonly stage: Stage; readonly browser: TestBrowser };

export const onEthereum = { network: 'ethereum', merchant_wallet: EVM_WALLET } as const;
export const onTron = { network: 'tron', merchant_wallet: TRON_WALLET } as const;

type Shown = { page: Page; url: string };

/** Opens the page of a payment of 1249.50 USDT in a browser with these wallets. */
export async function openWith(
  opened: Opened,
  wallets: TestWallet[],
  { state = {}, query = '', hasClock = false, announces, ...visit }: Opening = {},
): Promise<Shown> {
  const { page, context } = await opened.browser.visit({ device: 'desktop', ...visit });
  await giveWallets(context, wallets, announces === undefined ? {} : { announces });
  const network = wallets[0]?.family === 'tron' ? onTron : onEthereum;
  const url = opened.stage.show(checkout('waiting', { ...network, ...state }));
  if (hasClock) await page.clock.install();
  await page.goto(`${url}${query}`);
  return { page, url };
}
export type Opening = VisitOptions &
  WalletOptions & { state?: Parameters<typeof checkout>[1]; query?: string; hasClock?: boolean };

export const payButtons = (page: Page) => page.locator('.wallet-buttons button:visible');
export const press = (page: Page) => payButtons(page).first().click();
/** The one text that the panel shows. */
export const says = async (page: Page) => (await page.locator('[data-says]:visible').allInnerTexts()).join(' | ');
export const shows = (page: Page, text: string | RegExp) =>
  eventually(async () => expect(await says(page)).toMatch(text), { intervalMs: 50 });
export const offers = (page: Page) => page.locator('[data-offers]:visible').allInnerTexts();
