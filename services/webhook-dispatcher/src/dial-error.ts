import type { ErrorCategory } from '@quittance/contracts/webhook.ts';

/** No connection to the receiver came about, and why. */
export class DialError extends Error {
  override readonly name: string = 'DialError';
  readonly category: ErrorCategory;
  constructor(category: ErrorCategory, message: string, options?: ErrorOptions) {
    super(message, options);
    this.category = category;
  }
}

/** There is no such name, or it has no address: unlike a silent resolver, this is about the name. */
export class NameNotFound extends DialError {
  override readonly name = 'NameNotFound';
  constructor(host: string) {
    super('dns_error', `${host} does not exist`);
  }
}
