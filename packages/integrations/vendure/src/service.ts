import { Inject, Injectable } from '@nestjs/common';
import {
  ActiveOrderService,
  ConfigService,
  isGraphQlErrorResult,
  Logger,
  Order,
  OrderService,
  PaymentMethodService,
  RequestContext,
  RequestContextService,
  TransactionalConnection,
  UserInputError,
} from '@vendure/core';
import { createClient, QuittanceError, type Payment, type PaymentDetails, type Quittance } from '@quittance/sdk';
import { quittancePaymentHandler } from './handler.ts';
import { askedFor, asksFor, paidAmount, type Asked, type Money } from './money.ts';
import { QUITTANCE_OPTIONS, type QuittanceOptions } from './options.ts';

const loggerCtx = 'QuittancePlugin';

/** What a storefront needs of a payment: nothing that the checkout page does not show. */
export type StartedPayment = {
  paymentId: string;
  /** Send the customer there. */
  checkoutUrl: string;
  status: string;
  /** In USDT, as decimal text. */
  amount: string;
  /** What arrived so far; null on a shared wallet. */
  receivedAmount: string | null;
  network: string;
  /** Eight characters to read out on the telephone. */
  reference: string;
  expiresAt: string;
};

@Injectable()
export class QuittanceService {
  readonly #options: QuittanceOptions;
  readonly #quittance: Quittance;
  readonly #connection: TransactionalConnection;
  readonly #orders: OrderService;
  readonly #activeOrders: ActiveOrderService;
  readonly #methods: PaymentMethodService;
  readonly #contexts: RequestContextService;
  readonly #money: Money;

  constructor(
    @Inject(QUITTANCE_OPTIONS) options: object,
    connection: TransactionalConnection,
    orders: OrderService,
    activeOrders: ActiveOrderService,
    methods: PaymentMethodService,
    contexts: RequestContextService,
    config: ConfigService,
  ) {
    this.#options = options as QuittanceOptions;
    this.#quittance = createClient({ baseUrl: this.#options.baseUrl, apiKey: this.#options.apiKey });
    this.#connection = connection;
    this.#orders = orders;
    this.#activeOrders = activeOrders;
    this.#methods = methods;
    this.#contexts = contexts;
    const { precision = 2 } = config.entityOptions.moneyStrategy;
    this.#money = { precision, usdtCurrency: this.#options.usdtCurrency };
  }

  /**
   * The payment of the customer's order: the one that waits, or a new one. However often it is called, also twice at the same moment, there
   * is one for each amount that the order owes.
   * @throws UserInputError which says what to do first.
   */
  async start(ctx: RequestContext, returnUrl: string | undefined): Promise<StartedPayment> {
    const order = await this.#activeOrders.getActiveOrder(ctx, undefined);
    if (order === undefined) throw new UserInputError('There is no active order.');
    if (!['ArrangingPayment', 'ArrangingAdditionalPayment'].includes(order.state)) {
      throw new UserInputError('Transition the order to ArrangingPayment before you create its payment.');
    }
    const asked = askedFor(await this.#due(ctx, order), order.currencyCode, this.#money);
    try {
      const payments = await this.#quittance.listPayments({ order_id: order.code });
      const open = payments.find((payment) => isUnfinished(payment) && asksFor(payment, asked));
      if (open !== undefined) return started(open);
      await this.#cancelAll(payments);
      return started(await this.#create(ctx, order, asked, `${order.code}.${payments.length + 1}`, returnUrl));
    } catch (error) {
      if (!(error instanceof QuittanceError)) throw error;
      Logger.error(`order ${order.code}: ${error.code}: ${error.message}`, loggerCtx);
      throw new UserInputError(`The payment could not be created: ${error.code}. Try again in a moment.`);
    }
  }

  /**
   * Settles an order whose payment is PAID: once, however often it is reported, also twice at the same moment.
   * @throws Error if that is not possible now: the webhook is then sent again.
   */
  async settle(orderCode: string, channelToken: string, paymentId: string): Promise<void> {
    // Before the transaction, which must not wait for another server.
    const details = await this.#quittance.getPaymentDetails(paymentId);
    if (details.status !== 'PAID' || details.order_id !== orderCode) throw new Error(`${paymentId} is not paid`);
    const outside = await this.#contexts.create({ apiType: 'admin', channelOrToken: channelToken });
    await this.#connection.withTransaction(outside, async (ctx) => {
      const id = await this.#lock(ctx, orderCode);
      const order = id === null ? undefined : await this.#orders.findOne(ctx, id, ['payments']);
      if (order === undefined) {
        Logger.warn(`${paymentId} belongs to no order of this shop`, loggerCtx);
        return;
      }
      if (order.payments.some(({ transactionId }) => transactionId === paymentId)) return;
      // The customer may have gone back to the cart after paying.
      if (order.state === 'AddingItems') await this.#orders.transitionToState(ctx, order.id, 'ArrangingPayment');
      await this.#addPayment(ctx, order, details);
    });
  }

  /** Cancels what nobody should pay any more. What cannot be cancelled is only logged: the order has already been cancelled. */
  async cancelPaymentsOf(orderCode: string): Promise<void> {
    try {
      await this.#cancelAll(await this.#quittance.listPayments({ order_id: orderCode }));
    } catch (error) {
      Logger.error(`the payment of cancelled order ${orderCode} is still open: ${String(error)}`, loggerCtx);
    }
  }

  async #addPayment(ctx: RequestContext, order: Order, details: PaymentDetails): Promise<void> {
    const amount = paidAmount(details, await this.#due(ctx, order), order.currencyCode, this.#money);
    const state = (await this.#orders.findOne(ctx, order.id))?.state;
    if (amount === null || (state !== 'ArrangingPayment' && state !== 'ArrangingAdditionalPayment')) {
      const note = `Quittance payment ${details.payment_id} of ${details.amount} USDT was paid, but the order is ${state}. Return the money from your wallet, or deliver.`;
      await this.#orders.addNoteToOrder(ctx, { id: order.id, note, isPublic: false });
      Logger.error(`order ${order.code}: ${note}`, loggerCtx);
      return;
    }
    const metadata = { amount, transactionId: details.payment_id, ...shown(details) };
    const added = await this.#orders.addPaymentToOrder(ctx, order.id, { method: await this.#method(ctx), metadata });
    if (isGraphQlErrorResult(added)) throw new Error(`order ${order.code}: ${added.message}`);
  }

  async #create(ctx: RequestContext, order: Order, asked: Asked, idempotencyKey: string, wanted: string | undefined) {
    const { walletPool, merchantWallet = '', network, expiresIn, acceptFromPercent } = this.#options;
    const returnUrl = returnUrlOf(wanted, this.#options.returnUrl);
    return this.#quittance.createPayment(
      {
        ...asked,
        ...(walletPool === undefined
          ? { merchant_wallet: merchantWallet, unique_amount: true, ...(network !== undefined && { network }) }
          : { wallet_pool: walletPool }),
        description: `Order ${order.code}`,
        order_id: order.code,
        metadata: { channel: ctx.channel.token },
        ...(returnUrl !== null && { return_url: returnUrl }),
        ...(expiresIn !== undefined && { expires_in: expiresIn }),
        ...(acceptFromPercent !== undefined && { accept_from_percent: acceptFromPercent }),
      },
      { idempotencyKey },
    );
  }

  /** @throws QuittanceError if money has been seen for one of them. */
  async #cancelAll(payments: readonly Payment[]): Promise<void> {
    for (const payment of payments.filter(isUnfinished)) await this.#quittance.cancelPayment(payment.payment_id);
  }

  async #due(ctx: RequestContext, order: Order): Promise<number> {
    const payments = await this.#orders.getOrderPayments(ctx, order.id);
    const settled = payments.filter(({ state }) => state === 'Settled' || state === 'Authorized');
    return order.totalWithTax - settled.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** Waits until no other webhook works on the order. SQLite runs one transaction at a time. */
  async #lock(ctx: RequestContext, code: string): Promise<Order['id'] | null> {
    const query = this.#connection.getRepository(ctx, Order).createQueryBuilder('order').where({ code });
    const { type } = this.#connection.rawConnection.options;
    if (type === 'postgres' || type === 'mysql' || type === 'mariadb') query.setLock('pessimistic_write');
    return (await query.getOne())?.id ?? null;
  }

  async #method(ctx: RequestContext): Promise<string> {
    const { items } = await this.#methods.findAll(ctx);
    const method = items.find(({ handler }) => handler.code === quittancePaymentHandler.code);
    if (method === undefined) throw new Error('No payment method of this channel has the handler "quittance".');
    return method.code;
  }
}

const isUnfinished = ({ status }: Payment): boolean => status === 'PENDING' || status === 'CHECKING';

const started = (payment: Payment): StartedPayment => ({
  paymentId: payment.payment_id,
  checkoutUrl: payment.payment_url,
  status: payment.status,
  amount: payment.amount,
  receivedAmount: payment.received_amount,
  network: payment.network,
  reference: payment.reference,
  expiresAt: payment.expires_at,
});

/** What the order's page of the admin shows of its payment, in a narrow column. */
function shown(details: PaymentDetails) {
  const { amount, received_amount, transaction, network, reference, price, rate, unmatched_transfers } = details;
  return {
    asked: `${amount} USDT on ${network}`,
    received: `${received_amount ?? transaction?.amount ?? amount} USDT`,
    ...(price !== null && rate !== null && { price: `${price.amount} ${price.currency}, at ${rate.value}` }),
    reference,
    ...(unmatched_transfers.length > 0 && {
      unmatched: unmatched_transfers.map((transfer) => `${transfer.amount} USDT, ${transfer.reason}`),
    }),
    refund:
      'Quittance cannot refund: the money went directly to your wallet, and only you can send it. Ask the customer for an ' +
      'address, send the USDT, and settle the refund with the id of that transaction.',
  };
}

/** A page that the storefront names, if it is on the site of `returnUrl`: nobody can make our checkout page link to another one. */
function returnUrlOf(wanted: string | undefined, returnUrl: string | undefined): string | null {
  if (returnUrl === undefined) return null;
  if (wanted === undefined || !URL.canParse(wanted, returnUrl)) return returnUrl;
  const url = new URL(wanted, returnUrl);
  return url.origin === new URL(returnUrl).origin ? url.href : returnUrl;
}
