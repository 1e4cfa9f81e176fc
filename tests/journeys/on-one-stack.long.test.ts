import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { wantsTron } from '@quittance/local-stack/stack/tron.ts';
import { startCollector } from '@quittance/testkit/collector.ts';
import { journeyStack } from '../support/journey-stack.ts';
import { acceptedTransfer } from './on-one-stack/accepted-transfer.ts';
import { anyLanguage } from './on-one-stack/any-language.ts';
import { goLive } from './on-one-stack/go-live.ts';
import { paymentProof } from './on-one-stack/payment-proof.ts';
import { quickStart } from './on-one-stack/quick-start.ts';
import { sdk } from './on-one-stack/sdk.ts';
import { chainCommands } from './on-one-stack/chain-commands.ts';
import { check } from './on-one-stack/check.ts';
import { clients } from './on-one-stack/clients.ts';
import type { Shared } from './on-one-stack/shared.ts';
import { trace } from './on-one-stack/trace.ts';
import { tronPayment } from './on-one-stack/tron-payment.ts';
import { walletPayment } from './on-one-stack/wallet-payment.ts';

/** Journeys that leave a stack in order share one: starting and stopping it costs as much as all of them. */
describe('on one stack', () => {
  const shared = {} as Shared;

  beforeAll(async () => {
    shared.collector = await startCollector();
    shared.stack = await journeyStack({
      withTron: true,
      sharesBroker: true,
      settings: {
        OTEL_EXPORTER_OTLP_ENDPOINT: shared.collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer canary-of-the-collector',
        OTEL_TRACES_SAMPLER_ARG: '1',
      },
      prepare: async (directory) => {
        shared.directory = directory;
        expect(await wantsTron({ directory, environment: {} })).toBe(false);
      },
    });
  });

  afterAll(async () => {
    await shared.stack.close();
    await shared.collector.close();
  });

  trace(shared);
  acceptedTransfer(shared);
  sdk(shared);
  paymentProof(shared);
  clients(shared);
  chainCommands(shared);
  tronPayment(shared);
  walletPayment(shared);
  goLive(shared);
  // These forward all webhooks to their own endpoints.
  quickStart(shared);
  anyLanguage(shared);
  check(shared);
});
