import type {
  AuthorizePaymentInput,
  AuthorizePaymentOutput,
  BigNumberInput,
  CancelPaymentInput,
  CancelPaymentOutput,
  CapturePaymentInput,
  CapturePaymentOutput,
  DeletePaymentInput,
  DeletePaymentOutput,
  GetPaymentStatusInput,
  GetPaymentStatusOutput,
  InitiatePaymentInput,
  InitiatePaymentOutput,
  IPaymentProvider,
  ProviderWebhookPayload,
  RefundPaymentInput,
  RefundPaymentOutput,
  RetrievePaymentInput,
  RetrievePaymentOutput,
  UpdatePaymentInput,
  UpdatePaymentOutput,
  WebhookActionResult,
} from '@medusajs/framework/types';
import { AbstractPaymentProvider, MathBN, MedusaError, ModuleProvider, Modules } from '@medusajs/framework/utils';
import {
  QuittanceError,
  verifyWebhook,
  type PaymentCreation,
  type PaymentDetails,
  type Price,
  type Quittance,
  type RequestHeaders,
} from '@quittance/sdk';
import { accountOf } from '../../accounts.ts';
import { checkOptions, type QuittanceOptions } from '../../options.ts';
import { paymentData, sessionStatus, type PaymentData } from '../../payment-data.ts';

/**
 * A Medusa session is one Quittance payment. The money goes from the customer to the shop's wallet, so authorizing and capturing only read
 * whether it has arrived, and nothing can be refunded from here.
 */
class QuittanceProvider extends AbstractPaymentProvider<QuittanceOptions> implements IPaymentProvider {
  static identifier = 'quittance';
  readonly #options: QuittanceOptions;
  readonly #quittance: Quittance;

  /** Medusa calls it at its start. @throws MedusaError that names each option that is missing or wrong. */
  static validateOptions(options: Partial<QuittanceOptions>): void {
    checkOptions(options);
    // Medusa creates a provider when it is first used, and the job must not wait for that.
    accountOf(options);
  }

  constructor(cradle: Record<string, unknown>, options: QuittanceOptions) {
    super(cradle, options);
    this.#options = options;
    this.#quittance = accountOf(options);
  }

  async initiatePayment({ amount, currency_code, data }: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    const sessionId = text(data, 'session_id');
    const created = await this.#create(sessionId, sessionId, asked(amount, currency_code, this.#options), data);
    return { id: created.payment_id, status: 'pending', data: created };
  }

  /** A payment's amount never changes: another amount is another payment, and the first one is cancelled. */
  async updatePayment({ amount, currency_code, data }: UpdatePaymentInput): Promise<UpdatePaymentOutput> {
    const details = await this.#read(data);
    const wanted = asked(amount, currency_code, this.#options);
    const same = wanted.price
      ? details.price?.amount === wanted.price.amount && details.price.currency === wanted.price.currency
      : details.price === null && details.requested_amount === wanted.amount;
    if (same && details.status !== 'EXPIRED' && details.status !== 'CANCELLED') return withStatus(details);
    await this.#cancel(details);
    const sessionId = text(data, 'session_id');
    const created = await this.#create(sessionId, `${sessionId}.${details.payment_id}`, wanted, {
      return_url: details.return_url,
    });
    return { status: 'pending', data: created };
  }

  authorizePayment(input: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    return this.getPaymentStatus(input);
  }

  async getPaymentStatus({ data }: GetPaymentStatusInput): Promise<GetPaymentStatusOutput> {
    return withStatus(await this.#read(data));
  }

  async retrievePayment({ data }: RetrievePaymentInput): Promise<RetrievePaymentOutput> {
    return { data: withStatus(await this.#read(data)).data };
  }

  async capturePayment({ data }: CapturePaymentInput): Promise<CapturePaymentOutput> {
    const details = await this.#read(data);
    if (details.status === 'PAID') return { data: withStatus(details).data };
    throw notAllowed(`Quittance payment ${details.payment_id} is ${details.status}: only the customer can pay it`);
  }

  refundPayment({ data }: RefundPaymentInput): Promise<RefundPaymentOutput> {
    return Promise.reject(
      notAllowed(
        `Quittance cannot refund: the money of payment ${text(data, 'payment_id')} went directly to your wallet, and only ` +
          'you can send it. Ask the customer for an address, and send the USDT from your wallet',
      ),
    );
  }

  async cancelPayment({ data }: CancelPaymentInput): Promise<CancelPaymentOutput> {
    // Medusa also calls it to clean up a session whose payment could not be created.
    if (data?.['payment_id'] === undefined) return { data: data ?? {} };
    return { data: await this.#cancel(await this.#read(data)) };
  }

  deletePayment(input: DeletePaymentInput): Promise<DeletePaymentOutput> {
    return this.cancelPayment(input);
  }

  /** @throws WebhookVerificationError for a request that Quittance did not sign. */
  async getWebhookActionAndData({ rawData, headers }: ProviderWebhookPayload['payload']): Promise<WebhookActionResult> {
    const event = await verifyWebhook(rawData, headers as RequestHeaders, this.#options.signingKeys);
    const sessionId = 'order_id' in event ? event.order_id : undefined;
    // Medusa needs no other event: a transfer that is not final, an expired payment or an unmatched transfer changes no order.
    if (event.status !== 'PAID' || sessionId === undefined || !isSession(sessionId)) return { action: 'not_supported' };
    const amount = event.price?.amount ?? event.requested_amount ?? event.expected_amount;
    return { action: 'captured', data: { session_id: sessionId, amount } };
  }

  async #create(
    sessionId: string,
    idempotencyKey: string,
    wanted: Asked,
    data: Record<string, unknown> | undefined,
  ): Promise<PaymentData> {
    const { walletPool, merchantWallet = '', network, expiresIn, acceptFromPercent, description } = this.#options;
    const returnUrl = returnUrlOf(data?.['return_url'], this.#options.returnUrl);
    const creation: PaymentCreation = {
      ...wanted,
      ...(walletPool === undefined
        ? { merchant_wallet: merchantWallet, unique_amount: true, ...(network !== undefined && { network }) }
        : { wallet_pool: walletPool }),
      description: description ?? 'Your order',
      order_id: sessionId,
      ...(returnUrl !== null && { return_url: returnUrl }),
      ...(expiresIn !== undefined && { expires_in: expiresIn }),
      ...(acceptFromPercent !== undefined && { accept_from_percent: acceptFromPercent }),
    };
    return paymentData(sessionId, await this.#call(() => this.#quittance.createPayment(creation, { idempotencyKey })));
  }

  /** @throws MedusaError also if the payment is not the session's. */
  async #read(data: Record<string, unknown> | undefined): Promise<PaymentDetails> {
    const details = await this.#call(() => this.#quittance.getPaymentDetails(text(data, 'payment_id')));
    if (details.order_id === text(data, 'session_id')) return details;
    throw notAllowed(`Quittance payment ${details.payment_id} is not for this session`);
  }

  /** @throws MedusaError if money has been seen for it: Medusa must not forget such a session. */
  async #cancel(details: PaymentDetails): Promise<PaymentData> {
    const sessionId = details.order_id ?? '';
    if (details.status === 'EXPIRED' || details.status === 'CANCELLED') return paymentData(sessionId, details);
    if (details.status === 'PAID') {
      throw notAllowed(
        `Quittance payment ${details.payment_id} is PAID: the money is in your wallet, from which only you can return it`,
      );
    }
    return paymentData(sessionId, await this.#call(() => this.#quittance.cancelPayment(details.payment_id)));
  }

  /** Medusa shows only the messages of its own errors. */
  async #call<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof QuittanceError)) throw error;
      const { INVALID_DATA, NOT_ALLOWED, UNEXPECTED_STATE } = MedusaError.Types;
      const types: Record<string, string> = { invalid_request: INVALID_DATA, cancel_unavailable: NOT_ALLOWED };
      throw new MedusaError(types[error.code] ?? UNEXPECTED_STATE, `Quittance: ${error.code}: ${error.message}`);
    }
  }
}

type Asked = { amount: string; price?: never } | { price: Price; amount?: never };

/** The whole amount of a session in the words of Quittance, with no more decimals than its currency has. */
function asked(amount: BigNumberInput, currencyCode: string, { usdtCurrency = 'usdt' }: QuittanceOptions): Asked {
  const halfUp = 4;
  const decimalText = (decimals: number) => MathBN.convert(amount).toFixed(decimals, halfUp);
  if (currencyCode.toLowerCase() === usdtCurrency.toLowerCase()) return { amount: decimalText(2) };
  const currency = currencyCode.toUpperCase() as Price['currency'];
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return { price: { amount: decimalText(format.resolvedOptions().maximumFractionDigits ?? 2), currency } };
}

/** A page that the storefront names, if it is on the site of `returnUrl`: nobody can make our checkout page link to another one. */
function returnUrlOf(wanted: unknown, returnUrl: string | undefined): string | null {
  if (returnUrl === undefined) return null;
  if (typeof wanted !== 'string' || !URL.canParse(wanted, returnUrl)) return returnUrl;
  const url = new URL(wanted, returnUrl);
  return url.origin === new URL(returnUrl).origin ? url.href : returnUrl;
}

const withStatus = (details: PaymentDetails) => ({
  status: sessionStatus[details.status],
  data: paymentData(details.order_id ?? '', details) satisfies Record<string, unknown>,
});

/** The account may have other payments, whose order ids are of another kind. */
const isSession = (orderId: string): boolean => orderId.startsWith('payses_');

const notAllowed = (message: string): MedusaError => new MedusaError(MedusaError.Types.NOT_ALLOWED, `${message}.`);

function text(data: Record<string, unknown> | undefined, name: string): string {
  const value = data?.[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new MedusaError(MedusaError.Types.INVALID_DATA, `The data of the payment session has no ${name}.`);
}

export default ModuleProvider(Modules.PAYMENT, { services: [QuittanceProvider] });
