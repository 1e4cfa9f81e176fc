import { defineCall, json, object } from '../../call.ts';

/** The most wallets in one request. */
export const WALLETS_MAX = 100;

/**
 * Which of these wallets (canonical addresses) are frozen by the issuer of the network's token, so that nothing can be sent from them. The
 * answer comes immediately and holds what is known. A wallet that was not checked in the last ten minutes is checked after the answer. Until
 * then, and when the token has no such list or the network is not enabled, it is not listed. It is one endpoint's word: use it for warnings,
 * not for decisions about money.
 */
export const ReadWalletStates = defineCall(
  'chain-watcher',
  'POST /wallets/states',
  json<{ blacklisted: string[] }>({
    type: 'object',
    required: ['blacklisted'],
    properties: { blacklisted: { type: 'array', items: { type: 'string' } } },
  }),
  {
    callers: ['payments'],
    body: object<{ network: string; addresses: string[] }>({
      network: { type: 'string' },
      addresses: { type: 'array', maxItems: WALLETS_MAX, items: { type: 'string' } },
    }),
    idempotent: true,
    changes: false,
  },
);
