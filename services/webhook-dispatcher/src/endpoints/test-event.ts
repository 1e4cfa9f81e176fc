import type { TestedWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { unavailable } from '@quittance/http/errors.ts';
import type { Sender } from '../sending/sender.ts';
import type { SealedSecret } from '../store/signing-key.ts';
import type { KeyVault } from './key-vault.ts';

export type TestSender = ReturnType<typeof createTestSender>;

/** Tests under way in this process, each for up to fifteen seconds. */
const MAX_TESTS = 64;

/**
 * Sends test events: signed and sent as every other, under the same rules and time limits, once and without a record. They have
 * connections of their own, so that no delivery waits for one, and their results count for no circuit and no pace.
 */
export function createTestSender({ sender, vault }: { sender: Sender; vault: KeyVault }) {
  let underWay = 0;

  function open(keyId: string, sealed: SealedSecret): string {
    try {
      return vault.open(keyId, sealed);
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** @throws HttpError 503 while too many others are under way, or when the signing key does not open. */
  return async (
    merchantId: string,
    { url, key_id: keyId, ...sealed }: { url: string; key_id: string } & SealedSecret,
  ): Promise<TestedWebhook> => {
    if (underWay >= MAX_TESTS) throw unavailable(new Error(`${underWay} tests of endpoints are under way`));
    const secret = open(keyId, sealed);
    const eventId = newId('evt');
    underWay += 1;
    try {
      const result = await sender.send({ eventId, merchantId, url, keyId, secret, body: testBody(eventId) });
      return {
        event_id: eventId,
        delivered: result.errorCategory === null,
        http_status: result.httpStatus,
        error_category: result.errorCategory,
        duration_ms: result.durationMs,
      };
    } finally {
      underWay -= 1;
    }
  };
}

const testBody = (eventId: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      event_id: eventId,
      event_type: 'test',
      payment_id: null,
      status: 'TEST',
      expected_amount: '0',
      transaction_id: null,
      transaction_event_index: null,
      description: 'Test event',
    }),
  );
