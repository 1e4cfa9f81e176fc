import { RpcError, type RpcErrorKind } from '@quittance/chain-reader/rpc/errors.ts';

/** What nodes that keep no old blocks say of them: nothing, or that they are empty. */
const MISSING: readonly RpcErrorKind[] = ['unknown_block', 'invalid_answer'];

/** Whether no node has shown what is in some old blocks: asking again soon is no use. */
export const areMissing = (error: unknown): error is RpcError =>
  error instanceof RpcError && MISSING.includes(error.kind);
