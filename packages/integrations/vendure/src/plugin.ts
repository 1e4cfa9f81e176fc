import {
  nodeReceiver,
  WebhookVerificationError,
  type NodeRequest,
  type NodeResponse,
  type WebhookEvent,
} from '@quittance/sdk';
import { EventBus, Logger, OrderStateTransitionEvent, PluginCommonModule, VendurePlugin } from '@vendure/core';
import { parse } from 'graphql';
import { quittancePaymentHandler } from './handler.ts';
import { checkOptions, QUITTANCE_OPTIONS, type QuittanceOptions } from './options.ts';
import { QuittanceResolver } from './resolver.ts';
import { QuittanceService } from './service.ts';

export { quittancePaymentHandler, type QuittanceOptions };

/** USDT payments: `plugins: [QuittancePlugin.init({ … })]`. */
@VendurePlugin({
  compatibility: '^3.5.0',
  imports: [PluginCommonModule],
  providers: [{ provide: QUITTANCE_OPTIONS, useFactory: () => QuittancePlugin.options }, QuittanceService],
  configuration: (config) => {
    config.paymentOptions.paymentMethodHandlers.push(quittancePaymentHandler);
    // Before the listening begins, and so before any parser: the signature covers the raw body.
    config.apiOptions.middleware.push({ route: '/payments/quittance', handler: receiveWebhook, beforeListen: true });
    return config;
  },
  shopApiExtensions: {
    schema: parse(`
      type QuittancePayment {
        paymentId: String!
        checkoutUrl: String!
        status: String!
        amount: String!
        receivedAmount: String
        network: String!
        reference: String!
        expiresAt: String!
      }
      extend type Mutation {
        createQuittancePayment(returnUrl: String): QuittancePayment!
      }
    `),
    resolvers: [QuittanceResolver],
  },
})
export class QuittancePlugin {
  static options: QuittanceOptions;
  static service: QuittanceService;
  readonly #eventBus: EventBus;

  /** @throws Error naming every option that is missing or wrong. */
  static init(options: QuittanceOptions): typeof QuittancePlugin {
    checkOptions(options);
    QuittancePlugin.options = options;
    return QuittancePlugin;
  }

  constructor(service: QuittanceService, eventBus: EventBus) {
    QuittancePlugin.service = service;
    this.#eventBus = eventBus;
  }

  onApplicationBootstrap(): void {
    this.#eventBus.ofType(OrderStateTransitionEvent).subscribe(({ toState, order }) => {
      if (toState === 'Cancelled') void QuittancePlugin.service.cancelPaymentsOf(order.code);
    });
  }
}

/** Answers 2xx once the order is settled, and an error otherwise, so that the event is sent again. */
function receiveWebhook(request: NodeRequest, response: NodeResponse): Promise<void> {
  return nodeReceiver({
    keys: QuittancePlugin.options.signingKeys,
    onEvent: settlePaid,
    onError: (error) => {
      const what = error instanceof WebhookVerificationError ? 'was refused' : 'failed and will be sent again';
      Logger.error(`a webhook ${what}: ${String(error)}`, 'QuittancePlugin');
    },
  })(request, response);
}

/** Other events are only information: an order is settled only for received money. */
async function settlePaid(event: WebhookEvent): Promise<void> {
  if (event.status !== 'PAID') return;
  const channel = event.metadata?.['channel'];
  // The account may have payments that are not this shop's.
  if (event.order_id === undefined || channel === undefined) return;
  await QuittancePlugin.service.settle(event.order_id, channel, event.payment_id);
}
