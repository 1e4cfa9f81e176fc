/** Where somebody of a merchant is led after signing in. */
export const MERCHANT_HOME = '/my/payments';

/** What a merchant's people see of their own data. Nothing else is there for them. */
export const merchantSections = [
  [MERCHANT_HOME, 'Payments'],
  ['/my/transfers', 'Transfers'],
  ['/my/webhooks', 'Webhooks'],
  ['/my/limits', 'Limits'],
  ['/my/report', 'Report'],
] as const;

export const ownPaymentPath = (id: string): string => `${MERCHANT_HOME}/${id}`;
