import { LanguageCode, PaymentMethodHandler } from '@vendure/core';

/**
 * The money goes from the customer to the shop's wallet. The plugin adds a payment when that has happened, so it is settled from the
 * beginning, and what the handler may do afterwards is only to say that it cannot return it.
 */
export const quittancePaymentHandler = new PaymentMethodHandler({
  code: 'quittance',
  description: [{ languageCode: LanguageCode.en, value: 'USDT, with Quittance' }],
  args: {},

  createPayment: (ctx, _order, amount, _args, metadata) => {
    if (ctx.apiType !== 'admin') {
      const errorMessage =
        'Start the payment with the mutation createQuittancePayment. The plugin adds it when it is paid.';
      return { amount, state: 'Error', errorMessage };
    }
    const { amount: paid, transactionId, ...shown } = metadata as { amount: number; transactionId: string };
    return { amount: paid, state: 'Settled', transactionId, metadata: shown };
  },

  settlePayment: () => ({ success: true }),

  cancelPayment: () => ({
    success: false,
    state: 'Settled',
    errorMessage: 'The money is in your wallet, from which only you can return it. Refund the payment instead.',
  }),

  // Without createRefund, Vendure keeps a refund pending until a person settles it with the id of a transaction: only a person can send the money.
});
