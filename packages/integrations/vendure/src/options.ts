import type { SigningKeys } from '@quittance/sdk';

export type QuittanceOptions = {
  /** The URL of your Quittance before /api/v1, such as https://pay.example.com. */
  baseUrl: string;
  /** Of your account; the scope `orders` is enough. */
  apiKey: string;
  /** Of your webhook, by id: `{ whk_…: 'whsec_…' }`. During a rotation, the old and the new one. */
  signingKeys: SigningKeys;
  /** The name of your wallet pool, from which each payment gets an address for itself. */
  walletPool?: string;
  /** Instead of a pool: one address for all payments, which are told apart by their last digits. */
  merchantWallet?: string;
  /** Of the wallet, if its address is valid on several networks. A pool has its own. */
  network?: string;
  /** Where the checkout page's "Back to the shop" leads, unless the storefront names another page of the same site. */
  returnUrl?: string;
  /** The currency of your channels whose amounts are USDT, without conversion: `USD` counts a dollar as a USDT. */
  usdtCurrency?: string;
  /** How many seconds a payment waits. Default: your installation's. */
  expiresIn?: number;
  /** Which part of the amount is enough, in percent (50 to 100). Only with a pool. */
  acceptFromPercent?: number;
};

/** The token by which NestJS injects them. */
export const QUITTANCE_OPTIONS = Symbol('QUITTANCE_OPTIONS');

/** @throws Error naming every option that is missing or wrong, never its value. */
export function checkOptions(options: Partial<QuittanceOptions>): asserts options is QuittanceOptions {
  const problems = [
    !isWebUrl(options.baseUrl) && 'baseUrl must be the URL of your Quittance, such as https://pay.example.com',
    !isText(options.apiKey) && 'apiKey is missing',
    !areKeys(options.signingKeys) &&
      "signingKeys must be like { whk_…: 'whsec_…' }: the key of your webhook, by its id",
    isText(options.walletPool) === isText(options.merchantWallet) &&
      'set either walletPool (recommended) or merchantWallet',
    options.returnUrl !== undefined &&
      !isWebUrl(options.returnUrl) &&
      'returnUrl must be the URL of a page of your shop',
    options.acceptFromPercent !== undefined && !isText(options.walletPool) && 'acceptFromPercent needs walletPool',
  ].filter((problem) => problem !== false);
  if (problems.length > 0) throw new Error(`The options of QuittancePlugin: ${problems.join('; ')}.`);
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isWebUrl = (value: unknown): boolean =>
  isText(value) && URL.canParse(value) && ['https:', 'http:'].includes(new URL(value).protocol);

const areKeys = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  const keys = Object.entries(value);
  return keys.length > 0 && keys.every(([id, key]) => id.startsWith('whk_') && isText(key) && key.startsWith('whsec_'));
};
