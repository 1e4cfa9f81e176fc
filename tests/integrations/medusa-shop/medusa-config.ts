import { defineConfig } from '@medusajs/framework/utils';

const account = {
  baseUrl: process.env.QUITTANCE_URL,
  apiKey: process.env.QUITTANCE_API_KEY,
  signingKeys: { [process.env.QUITTANCE_KEY_ID!]: process.env.QUITTANCE_SIGNING_KEY },
  returnUrl: process.env.STOREFRONT_URL,
};

export default defineConfig({
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL,
    // Only here: this shop has no TLS.
    cookieOptions: { secure: false, sameSite: 'lax' },
    http: {
      storeCors: process.env.STOREFRONT_URL!,
      adminCors: process.env.MEDUSA_URL!,
      authCors: process.env.MEDUSA_URL!,
      jwtSecret: process.env.SECRET,
      cookieSecret: process.env.SECRET,
    },
  },
  plugins: ['@quittance/medusa'],
  modules: [
    {
      resolve: '@medusajs/medusa/payment',
      options: {
        providers: [
          {
            resolve: '@quittance/medusa/providers/quittance',
            id: 'usdt',
            options: { ...account, walletPool: 'shop' },
          },
          // A dollar is a USDT, and all customers pay to one wallet.
          {
            resolve: '@quittance/medusa/providers/quittance',
            id: 'dollars',
            options: { ...account, merchantWallet: process.env.WALLET, usdtCurrency: 'usd' },
          },
        ],
      },
    },
  ],
});
