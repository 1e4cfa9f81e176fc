import { defineCall, json, object } from '../../call.ts';

/** As many wallets as one question may name. */
export const WALLETS_MAX = 100;

/**
 * Which of these wallets (canonical addresses) the issuer of a network's token has frozen, so that nothing can be sent from them. It is
 * answered at once, with what is known; a wallet of which nothing is known yet, or not for ten minutes, is asked about afterwards. One endpoint's
 * word, for people to be warned by: it decides about no money. Tokens that freeze nobody, and networks that are off, list none.
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
    body: object<{ network: string; addresses: string[] }>({
      network: { type: 'string' },
      addresses: { type: 'array', maxItems: WALLETS_MAX, items: { type: 'string' } },
    }),
    idempotent: true,
  },
);
