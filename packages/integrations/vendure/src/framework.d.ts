/**
 * The used parts of Vendure and NestJS, which are too large to be installed here. tests/integrations compiles these sources with the
 * frameworks themselves instead.
 */
declare module '@nestjs/common' {
  export function Inject(token: symbol): ParameterDecorator;
  export function Injectable(): ClassDecorator;
}

declare module '@nestjs/graphql' {
  export function Args(): ParameterDecorator;
  export function Mutation(): MethodDecorator;
  export function Resolver(): ClassDecorator;
}

declare module 'graphql' {
  export type DocumentNode = { readonly kind: 'Document' };
  export function parse(source: string): DocumentNode;
}

declare module '@vendure/core' {
  import type { DocumentNode } from 'graphql';

  type ID = string | number;
  type ClassOf<T> = new (...given: never[]) => T;

  export enum LanguageCode {
    en = 'en',
  }
  export enum Permission {
    Owner = 'Owner',
  }
  export const Logger: Record<'warn' | 'error', (message: string, context: string) => void>;
  export function Allow(...permissions: Permission[]): MethodDecorator;
  export function Ctx(): ParameterDecorator;
  export class UserInputError extends Error {}
  export function isGraphQlErrorResult(result: object): result is ErrorResult;
  type ErrorResult = { readonly __typename: string; readonly errorCode: string; readonly message: string };

  export class RequestContext {
    readonly apiType: 'admin' | 'shop' | 'custom';
    readonly channel: { token: string };
  }
  type Payment = { amount: number; state: string; transactionId: string };
  export class Order {
    id: ID;
    code: string;
    state: string;
    currencyCode: string;
    payments: Payment[];
    readonly totalWithTax: number;
  }

  type CreatedPayment = { amount: number; transactionId?: string; metadata?: object } & (
    | { state: 'Settled'; errorMessage?: string }
    | { state: 'Error'; errorMessage: string }
  );
  export class PaymentMethodHandler {
    readonly code: string;
    constructor(config: {
      code: string;
      description: { languageCode: LanguageCode; value: string }[];
      args: Record<string, never>;
      createPayment(
        ctx: RequestContext,
        order: Order,
        amount: number,
        args: object,
        metadata: Record<string, unknown>,
      ): CreatedPayment;
      settlePayment(): { success: true };
      cancelPayment(): { success: false; state: 'Settled'; errorMessage: string };
    });
  }

  export class ActiveOrderService {
    getActiveOrder(ctx: RequestContext, input: undefined): Promise<Order | undefined>;
  }
  export class ConfigService {
    entityOptions: { moneyStrategy: { precision?: number } };
  }
  export class OrderService {
    findOne(ctx: RequestContext, id: ID, relations?: 'payments'[]): Promise<Order | undefined>;
    getOrderPayments(ctx: RequestContext, id: ID): Promise<Payment[]>;
    transitionToState(ctx: RequestContext, id: ID, state: 'ArrangingPayment'): Promise<Order | ErrorResult>;
    addNoteToOrder(ctx: RequestContext, input: { id: ID; note: string; isPublic: boolean }): Promise<Order>;
    addPaymentToOrder(
      ctx: RequestContext,
      id: ID,
      input: { method: string; metadata: object },
    ): Promise<Order | ErrorResult>;
  }
  export class PaymentMethodService {
    findAll(ctx: RequestContext): Promise<{ items: { code: string; handler: { code: string } }[] }>;
  }
  export class RequestContextService {
    create(options: { apiType: 'admin'; channelOrToken: string }): Promise<RequestContext>;
  }
  type OrderQuery = {
    where(filter: { code: string }): OrderQuery;
    setLock(mode: 'pessimistic_write'): OrderQuery;
    getOne(): Promise<Order | null>;
  };
  export class TransactionalConnection {
    readonly rawConnection: { options: { type: string } };
    withTransaction<T>(ctx: RequestContext, work: (ctx: RequestContext) => Promise<T>): Promise<T>;
    getRepository(ctx: RequestContext, entity: typeof Order): { createQueryBuilder(alias: string): OrderQuery };
  }

  export class OrderStateTransitionEvent {
    readonly toState: string;
    readonly order: Order;
  }
  export class EventBus {
    ofType<T>(type: ClassOf<T>): { subscribe(next: (event: T) => void): unknown };
  }
  export const PluginCommonModule: ClassOf<object>;
  type Middleware = { route: string; handler: (...given: never[]) => unknown; beforeListen: boolean };
  export function VendurePlugin(options: {
    compatibility: string;
    imports: object[];
    providers: object[];
    configuration<
      Config extends {
        paymentOptions: { paymentMethodHandlers: PaymentMethodHandler[] };
        apiOptions: { middleware: Middleware[] };
      },
    >(
      config: Config,
    ): Config;
    shopApiExtensions: { schema: DocumentNode; resolvers: object[] };
  }): ClassDecorator;
}
