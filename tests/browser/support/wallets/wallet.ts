import { readFileSync } from 'node:fs';
import type { AddressFamily } from '@quittance/contracts/address.ts';
import type { BrowserContext } from 'playwright-core';

/** What a wallet was asked, in order. */
export type Asked = { method: string; params: unknown[] };

/** How a wallet answers one method. Throw a WalletError to refuse. */
export type Answers = Record<string, (...params: unknown[]) => unknown>;

/** A wallet in a visitor's browser. Its provider is in the page; what it answers is decided here. */
export type TestWallet = {
  family: AddressFamily;
  name: string;
  answers: Answers;
  asked: Asked[];
};

export type WalletOptions = {
  /** 'late': when the test calls announce(); 'never': it is only where wallets stood before they announced themselves. */
  announces?: 'at once' | 'late' | 'never';
};

/** An error as EIP-1193 has it, or a bare word, as TronLink throws it. */
export class WalletError extends Error {
  readonly thrown: unknown;

  constructor(thrown: { code: number; message?: string; data?: unknown } | string) {
    super(JSON.stringify(thrown));
    this.thrown = thrown;
  }
}

export const refused = (): never => {
  throw new WalletError({ code: 4001, message: 'User rejected the request.' });
};
export const silent = (): Promise<never> => new Promise(() => undefined);

const provider = readFileSync(new URL('../in-page/wallet-provider.js', import.meta.url), 'utf8');

/** Installs wallets into every page that the visitor opens from now on. */
export async function giveWallets(
  context: BrowserContext,
  wallets: readonly TestWallet[],
  { announces = 'at once' }: WalletOptions = {},
): Promise<void> {
  await context.exposeFunction('askTestWallet', async (id: number, method: string, params: unknown[]) => {
    const wallet = wallets[id];
    if (wallet === undefined) throw new Error(`no wallet ${id}`);
    wallet.asked.push({ method, params });
    try {
      const answer = wallet.answers[method];
      if (answer === undefined) throw new WalletError({ code: 4200, message: `${method} is not supported` });
      return { result: (await answer(...params)) ?? null };
    } catch (error) {
      if (error instanceof WalletError) return { error: error.thrown };
      throw error;
    }
  });
  for (const [id, { family, name }] of wallets.entries()) {
    const plan = { id, family, name, rdns: `com.example.wallet${id}`, announces };
    await context.addInitScript({ content: `${provider} installTestWallet(${JSON.stringify(plan)});` });
  }
}

export const methodsOf = ({ asked }: TestWallet): string[] => asked.map(({ method }) => method);
/** How often the wallet was asked to send. */
export const sendings = (wallet: TestWallet): Asked[] =>
  wallet.asked.filter(({ method }) => method === 'eth_sendTransaction' || method === 'trx.sign');
