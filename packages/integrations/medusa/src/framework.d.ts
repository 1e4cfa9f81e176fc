/**
 * The used parts of Medusa's framework, which is too large to be installed here. tests/integrations compiles these sources with the
 * framework itself instead.
 */
declare module '@medusajs/framework/types' {
  export * from '@medusajs/types';
}

declare module '@medusajs/framework/utils' {
  import type { IPaymentProvider } from '@medusajs/types';

  export abstract class AbstractPaymentProvider<Options> {
    protected readonly config: Options;
    constructor(cradle: Record<string, unknown>, config?: Options);
    getIdentifier(): string;
  }
  export class MedusaError extends Error {
    static Types: Record<'INVALID_ARGUMENT' | 'INVALID_DATA' | 'NOT_ALLOWED' | 'UNEXPECTED_STATE', string>;
    constructor(type: string, message: string);
  }
  export const MathBN: { convert(amount: unknown): { toFixed(decimals: number, rounding?: number): string } };
  export const Modules: { PAYMENT: 'payment' };
  export function ModuleProvider(
    module: string,
    provider: { services: (new (...given: never[]) => IPaymentProvider)[] },
  ): { module: string };
}

declare module '@medusajs/medusa/core-flows' {
  import type { MedusaContainer, WebhookActionResult } from '@medusajs/types';

  export function processPaymentWorkflow(container: MedusaContainer): {
    run(given: { input: WebhookActionResult }): Promise<unknown>;
  };
}
