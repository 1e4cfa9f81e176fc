import type { Price, SigningKeys } from '@quittance/sdk';

export type Currency = 'USDT' | Price['currency'];

export type Config = {
  port: number;
  host: string;
  /** URL of the shop's own database. */
  databaseUrl: string;
  /** The shop's public URL, without a slash at its end. */
  shopUrl: string;
  /** Quittance's URL: its API and its checkout page. */
  quittanceUrl: string;
  apiKey: string;
  /** By id. While a key is being replaced, both the old and the new one. */
  signingKeys: SigningKeys;
  /** The name of the account's wallet pool. Each payment gets an address of it for itself; only the shop has the keys. */
  walletPool: string;
  /** Of the prices: USDT, or another one, from which Quittance converts them. */
  currency: Currency;
  adminPassword: string;
  /** Addresses and networks of the proxies in front of the shop. */
  trustedProxies: string[];
  /** How often open orders are compared with Quittance. */
  reconcileSeconds: number;
};

const ADMIN_PASSWORD_MIN_LENGTH = 12;

/** All settings of the shop. @throws Error naming each setting that is missing or wrong. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = [];
  const text = (name: string): string => env[name] || (problems.push(`${name} is missing`), '');
  const url = (name: string): string => {
    const value = text(name);
    if (value !== '' && !URL.canParse(value)) problems.push(`${name} is not a URL`);
    return value.replace(/\/+$/, '');
  };
  const number = (name: string, fallback: number): number => {
    const value = Number(env[name] || fallback);
    if (!Number.isInteger(value) || value < 0) problems.push(`${name} is not a whole number`);
    return value;
  };
  const config: Config = {
    port: number('PORT', 3000),
    host: env['HOST'] || '127.0.0.1',
    databaseUrl: text('DATABASE_URL'),
    shopUrl: url('SHOP_URL'),
    quittanceUrl: url('QUITTANCE_URL'),
    apiKey: text('QUITTANCE_API_KEY'),
    signingKeys: signingKeys(text('QUITTANCE_SIGNING_KEYS')),
    walletPool: text('WALLET_POOL'),
    currency: (env['CURRENCY'] || 'USDT') as Currency,
    adminPassword: text('ADMIN_PASSWORD'),
    trustedProxies: (env['TRUSTED_PROXIES'] ?? '').split(',').flatMap((entry) => entry.trim() || []),
    reconcileSeconds: number('RECONCILE_SECONDS', 30),
  };
  if (Object.values(config.signingKeys).some((key) => !key.startsWith('whsec_')))
    problems.push('QUITTANCE_SIGNING_KEYS is not like whk_1=whsec_1,whk_2=whsec_2');
  // Which currencies have a rate is Quittance's to say: GET /rates.
  if (!/^(USDT|[A-Z]{3})$/.test(config.currency)) problems.push('CURRENCY is not like EUR');
  if (config.adminPassword.length < ADMIN_PASSWORD_MIN_LENGTH)
    problems.push(`ADMIN_PASSWORD is shorter than ${ADMIN_PASSWORD_MIN_LENGTH} characters`);
  if (problems.length > 0) throw new Error(problems.join('; '));
  return config;
}

const signingKeys = (text: string): SigningKeys =>
  Object.fromEntries(
    text.split(',').map((pair) => {
      // A key in base64 may itself end with =.
      const [id = '', ...key] = pair.trim().split('=');
      return [id, key.join('=')];
    }),
  );
