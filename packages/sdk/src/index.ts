export { createClient, type CreationOptions, type Quittance, type QuittanceOptions } from './client.ts';
export { QuittanceError, type ErrorCode } from './errors.ts';
export type { TokenOfNetwork } from './proof/tokens.ts';
export {
  ProofError,
  verifyProof,
  type ProofOptions,
  type ProofStep,
  type ProvedPayment,
  type ProvedTransfer,
} from './proof/verify.ts';
export { fetchReceiver, nodeReceiver, type NodeRequest, type NodeResponse, type ReceiverOptions } from './receive.ts';
export type { CallOptions } from './transport.ts';
export type * from './types.ts';
export {
  verifyWebhook,
  WebhookConfigurationError,
  WebhookVerificationError,
  type RequestHeaders,
  type SigningKeys,
  type VerificationProblem,
} from './webhook.ts';
