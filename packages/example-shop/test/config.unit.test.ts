import { expect, test } from '@jest/globals';
import { readConfig } from '../src/config.ts';

const whole = {
  DATABASE_URL: 'postgres://127.0.0.1/shop',
  SHOP_URL: 'https://shop.example/',
  QUITTANCE_URL: 'https://pay.example',
  QUITTANCE_API_KEY: 'qk_1',
  QUITTANCE_SIGNING_KEYS: 'whk_2=whsec_b, whk_1=whsec_a',
  WALLET_POOL: 'shop',
  ADMIN_PASSWORD: 'correct horse',
};

test('both keys of a rotation are read', () => {
  expect(readConfig(whole)).toMatchObject({
    shopUrl: 'https://shop.example',
    signingKeys: { whk_1: 'whsec_a', whk_2: 'whsec_b' },
    ...{ port: 3000, reconcileSeconds: 30 },
  });
});

test('the proxies in front of it are read one by one, and there are none by default', () => {
  expect(readConfig(whole).trustedProxies).toEqual([]);
  expect(readConfig({ ...whole, TRUSTED_PROXIES: '10.0.0.0/8, ::1' }).trustedProxies).toEqual(['10.0.0.0/8', '::1']);
});

test('a key is read to its end, also if it ends with =', () => {
  const key = `whsec_${'b'.repeat(43)}=`;
  expect(readConfig({ ...whole, QUITTANCE_SIGNING_KEYS: `whk_1=${key}` })).toMatchObject({
    signingKeys: { whk_1: key },
  });
});

test('its prices are in USDT unless it names another currency', () => {
  expect(readConfig(whole).currency).toBe('USDT');
  expect(readConfig({ ...whole, CURRENCY: 'EUR' }).currency).toBe('EUR');
  for (const CURRENCY of ['eur', 'EURO', '€', 'USDTX'])
    expect(() => readConfig({ ...whole, CURRENCY })).toThrow('CURRENCY is not like EUR');
});

test('all missing or wrong settings are named at once', () => {
  const wrong = {
    ...whole,
    WALLET_POOL: '',
    SHOP_URL: 'shop',
    QUITTANCE_SIGNING_KEYS: 'whsec_a',
    ADMIN_PASSWORD: 'horse',
  };
  expect(() => readConfig(wrong)).toThrow(
    'SHOP_URL is not a URL; WALLET_POOL is missing; QUITTANCE_SIGNING_KEYS is not like whk_1=whsec_1,whk_2=whsec_2; ADMIN_PASSWORD is shorter than 12 characters',
  );
});
