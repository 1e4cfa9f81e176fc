/** Rules that decide about money without any I/O, and the unit tests that must notice when one of them is changed. */
export type Rules = { name: string; about: string; mutate: string[]; tests: string[] };

/** Each with tests of its own package, because only these load the mutated copy. */
export const allRules: readonly Rules[] = [
  {
    name: 'amounts',
    about: 'decimal text and base units, addresses, times',
    mutate: ['packages/contracts/src/{amount,address,timestamp}.ts'],
    tests: ['packages/contracts/test/{values,timestamp}.unit.test.ts'],
  },
  {
    name: 'settlement',
    about: 'which payment a transfer pays, payment windows, the states of a payment',
    mutate: [
      'services/payments/src/payment/state.ts',
      'services/payments/src/settlement/{claim,decision,payment-window}.ts',
    ],
    tests: ['services/payments/test/{claim,decision,payment-window,state}.unit.test.ts'],
  },
  {
    name: 'finality',
    about: 'when a block of a chain may be trusted',
    mutate: ['packages/chain-reader/src/chain/finality.ts'],
    tests: ['packages/chain-reader/test/finality.unit.test.ts'],
  },
  {
    name: 'outcomes',
    about: 'the stored outcome of a webhook attempt, retries, signatures',
    mutate: [
      'services/webhook-dispatcher/src/state.ts',
      'services/webhook-dispatcher/src/events/outcome.ts',
      'services/webhook-dispatcher/src/sending/signature.ts',
    ],
    tests: ['services/webhook-dispatcher/test/{outcome,retry-schedule,signature,state}.unit.test.ts'],
  },
  {
    name: 'creation',
    about: 'which creations are allowed, which are replays, and what is written',
    mutate: ['services/payments/src/payment/creation-rule.ts', 'services/payments/src/gate/limits.ts'],
    tests: ['services/payments/test/{creation-rule,access}.unit.test.ts'],
  },
  {
    name: 'access',
    about: 'who may create how many payments',
    mutate: ['services/quota/src/policy.ts'],
    tests: ['services/quota/test/policy.unit.test.ts'],
  },
  {
    name: 'validation',
    about: 'which creations are valid',
    mutate: ['services/api-gateway/src/payments/creation.ts'],
    tests: ['services/api-gateway/test/creation.unit.test.ts'],
  },
];
