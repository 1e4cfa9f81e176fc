const { AdminUiPlugin } = require('@vendure/admin-ui-plugin');
const { DefaultJobQueuePlugin, DefaultSearchPlugin } = require('@vendure/core');
const { QuittancePlugin } = require('@quittance/vendure');

const port = Number(process.env.PORT);

exports.config = {
  apiOptions: {
    port,
    hostname: '127.0.0.1',
    adminApiPath: 'admin-api',
    shopApiPath: 'shop-api',
    cors: { origin: true, credentials: true, exposedHeaders: ['vendure-auth-token'] },
  },
  authOptions: {
    tokenMethod: ['bearer', 'cookie'],
    superadminCredentials: { identifier: process.env.ADMIN_NAME, password: process.env.ADMIN_PASSWORD },
    cookieOptions: { secret: process.env.SECRET },
  },
  dbConnectionOptions: { type: 'postgres', url: process.env.DATABASE_URL, synchronize: true },
  paymentOptions: { paymentMethodHandlers: [] },
  plugins: [
    DefaultJobQueuePlugin,
    DefaultSearchPlugin,
    // Vendure's own picture would come from the internet.
    AdminUiPlugin.init({ route: 'admin', port, adminUiConfig: { loginImageUrl: 'data:image/gif;base64,' } }),
    QuittancePlugin.init({
      baseUrl: process.env.QUITTANCE_URL,
      apiKey: process.env.QUITTANCE_API_KEY,
      signingKeys: { [process.env.QUITTANCE_KEY_ID]: process.env.QUITTANCE_SIGNING_KEY },
      returnUrl: process.env.STOREFRONT_URL,
      // A dollar is a USDT. Other currencies are converted.
      usdtCurrency: 'USD',
      walletPool: 'shop',
    }),
  ],
};
