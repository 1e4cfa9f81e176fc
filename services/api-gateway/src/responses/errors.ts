import { conflict, HttpError } from '@quittance/http/errors.ts';

export const invalidApiKey = (): HttpError => new HttpError(401, 'Missing or invalid API key');

export const invalidRotationSecret = (): HttpError => new HttpError(401, 'Missing or invalid rotation secret');

/** Also for another merchant's payment: the bytes must not tell the two apart. */
export const paymentNotFound = (): HttpError => new HttpError(404, 'Payment not found');

/** The same for a payment in another status, another merchant's, an unknown one and a malformed id. */
export const notCancellable = (): HttpError => conflict('cancel_unavailable', 'This payment cannot be cancelled');

export const eventNotFound = (): HttpError => new HttpError(404, 'Webhook event not found');

export const merchantNotFound = (): HttpError => new HttpError(404, 'Merchant not found');

export const bodyTooLarge = (): HttpError => new HttpError(413, 'Request body exceeds 64 KiB');

/** @param secondsLeft whole seconds until the window ends. */
export const rateLimited = (secondsLeft: number): HttpError =>
  new HttpError(429, 'Rate limit exceeded', { 'retry-after': String(secondsLeft) });
