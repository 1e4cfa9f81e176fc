import type { Network } from '@quittance/contracts/networks.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import type { PaymentMessages } from '../../src/payment/outgoing-messages.ts';
import type { Chain } from '../../src/clients.ts';
import { startExpireLoop } from '../../src/expiry/expire.ts';
import type { Question } from './expiring.ts';

/**
 * Runs the expiry loop once.
 * @param questions gets what it asked chain-watcher, with the answers.
 * @returns true when every question was answered; 'to be repeated' when the database could not do it now.
 * @throws errors in the loop's log that no outage explains.
 */
export async function expireOnce({
  pool,
  messages,
  chain,
  networks,
  questions,
}: {
  pool: Pool;
  messages: PaymentMessages;
  chain: Chain;
  networks: readonly Network[];
  questions: Question[];
}): Promise<boolean | 'to be repeated'> {
  const failures: unknown[] = [];
  for (const network of networks) {
    const { promise: ran, resolve: end }: PromiseWithResolvers<void> = Promise.withResolvers();
    const loop = startExpireLoop({
      db: pool,
      transact: (run) => transaction(pool, run),
      chain: listened(chain, questions),
      messages,
      networks: [network],
      logger: errorsTo((error) => failures.push(error)),
      metrics: telling(end),
    });
    await ran;
    await loop.close();
  }
  const causes = failures.flatMap((error) => (error instanceof AggregateError ? (error.errors as unknown[]) : [error]));
  for (const cause of causes) {
    if (cause instanceof HttpError && cause.status === 503) continue;
    if (!isUnavailable(cause)) throw cause;
    return 'to be repeated';
  }
  return causes.length === 0;
}

const listened = (chain: Chain, questions: Question[]): Chain => ({
  async transfersIn(network, windows) {
    const question: Question = {
      network,
      windows: windows.map(({ recipient, amount, from, to }) => ({
        recipient,
        ...(amount !== undefined && { amount }),
        from: from.toISOString(),
        to: to.toISOString(),
      })),
      answer: null,
    };
    questions.push(question);
    const { scannedThrough, transfers } = await chain.transfersIn(network, windows);
    question.answer = { scannedThrough: scannedThrough?.getTime() ?? null, transfers };
    return { scannedThrough, transfers };
  },
});

/** The loop's own metrics show when a run has ended. */
const telling = (end: () => void): Metrics => ({
  ...testMetrics,
  histogram: (() => ({ startTimer: () => end, zero: () => undefined })) as unknown as Metrics['histogram'],
});

const errorsTo = (note: (error: unknown) => void): Logger =>
  Object.assign(Object.create(testLogger) as Logger, {
    error: ({ error }: { error: unknown }) => note(error),
  });
