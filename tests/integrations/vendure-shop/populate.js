const { bootstrap } = require('@vendure/core');
const { populate } = require('@vendure/core/cli');
const { config } = require('./vendure-config.js');

const initialData = {
  defaultLanguage: 'en',
  defaultZone: 'Europe',
  countries: [{ name: 'Germany', code: 'DE', zone: 'Europe' }],
  taxRates: [{ name: 'Standard Tax', percentage: 0 }],
  shippingMethods: [{ name: 'Post', price: 0 }],
  paymentMethods: [{ name: 'USDT', handler: { code: 'quittance', arguments: [] } }],
  collections: [],
};

populate(() => bootstrap(config), initialData)
  .then((app) => app.close())
  .then(() => process.exit(0))
  .catch((error) => {
    console.error(error);
    process.exit(1);
  });
