import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect } from '@jest/globals';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import type { Payment, PaymentTransaction } from '@quittance/contracts/api/payment.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import type { Contract } from '../conformance.test.ts';
import { apiAt, openMerchant, toldExtensions, type Merchant } from '../../support/merchant.ts';
import { untilStatus } from '../../support/paying.ts';
import { isGenuine, signatureOf, untilReceived, type Received } from '../../support/receiver.ts';
import { rule } from '../support/rule.ts';

type Receipt = { status: string; logs: { topics: string[]; data: string; address: string }[] };

const description = 'Für "Zoë" & Cø <b>№ 7</b> \\ 😀';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** One event as the endpoint received it: its body, its headers, and its verification with only node:crypto. */
export function eventsSection(contract: Contract): void {
  describe('the event of a paid payment', () => {
    let merchant: Merchant;
    let apiKey: string;
    let payment: Payment;
    let settings: { url: string; key_id: string; signing_key: string };
    let event: Received;

    beforeAll(async () => {
      merchant = await openMerchant(contract.stack, { webhook: false });
      const url = `https://${merchant.host}/hooks/pay?tenant=7&x=%20`;
      const put = await merchant.call('PUT', '/api/v1/merchant/webhook', { body: { url } });
      settings = put.json<typeof settings>();
      payment = await merchant.created({ amount: '10.50', description });
      // A change of the API key must not change the signing key.
      const rotated = await apiAt(contract.stack.edge_url)('POST', '/api/v1/merchant/rotate-key', {
        headers: { 'secret-key': merchant.rotationSecret },
      });
      apiKey = rotated.json<{ new_api_key: string }>().new_api_key;
      await payOnChain(contract.stack.chain, merchant.wallet, '10.5');
      await untilStatus(contract.stack, payment, 'PAID');
      [event] = (await untilReceived(contract.stack, merchant.host)) as [Received];
    }, 120_000);

    rule(
      [
        ...(['event.payment_id', 'event.status', 'event.expected_amount', 'event.description'] as const),
        ...(['event.event_id', 'event.transaction_id', 'payment.description', 'payment.amount'] as const),
      ],
      'has exactly its seven fields, with the amount and description as sent on creation',
      async () => {
        expect(JSON.parse(event.raw_body)).toEqual({
          event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
          payment_id: payment.payment_id,
          status: 'PAID',
          expected_amount: '10.50',
          transaction_id: expect.stringMatching(/^[0-9a-f]{64}$/),
          transaction_event_index: expect.any(Number),
          description,
          ...toldExtensions,
        });
      },
    );

    rule(
      ['event.transaction_id', 'event.transaction_event_index', 'events.diagnostics'],
      'names the log of the receipt that paid, as the details do',
      async () => {
        const { transaction_id: id, transaction_event_index: index } = event.body;
        const receipt = await rpc<Receipt>(contract.stack.chain.rpc_url, 'eth_getTransactionReceipt', [`0x${id}`]);
        const log = receipt.logs[index]!;
        expect(log.address.toLowerCase()).toBe(contract.stack.chain.token.toLowerCase());
        expect(log.topics[0]).toBe(TRANSFER);
        expect(log.topics[2]).toBe(`0x${merchant.wallet.slice(2).toLowerCase().padStart(64, '0')}`);
        expect(BigInt(log.data)).toBe(10_500_000n);
        const details = await merchant.call('GET', `/api/v1/payments/${payment.payment_id}/details`, {
          headers: { 'X-API-Key': apiKey },
        });
        const paidBy: Partial<PaymentTransaction> = { transaction_id: id, transaction_event_index: index };
        expect(details.json()).toMatchObject({ status: 'PAID', transaction: paidBy });
      },
    );

    rule(
      ['events.delivery.1', 'webhook-settings.url'],
      'is sent once, as a POST of JSON to the configured URL including its query',
      async () => {
        const { method, host, path } = event;
        expect([method, host, path]).toEqual(['POST', merchant.host, '/hooks/pay?tenant=7&x=%20']);
        expect(event.headers['content-type']).toMatch(/^application\/json/);
        expect(event.headers['content-length']).toBe(String(Buffer.byteLength(event.raw_body)));
        expect(await untilReceived(contract.stack, merchant.host)).toHaveLength(1);
      },
    );

    rule(
      [
        ...(['events.header.timestamp', 'events.header.signature', 'events.header.event-id'] as const),
        ...(['events.header.key-id', 'webhook-settings.key_id', 'versioning.signature'] as const),
      ],
      'has its four headers once each, and no credential',
      async () => {
        const names = Object.keys(event.headers).filter((name) => name.startsWith('x-'));
        expect(names.sort()).toEqual([
          'x-service-event-id',
          'x-service-key-id',
          'x-service-signature',
          'x-service-timestamp',
        ]);
        expect(event.headers).toMatchObject({
          'x-service-timestamp': expect.stringMatching(/^\d{10,12}$/),
          'x-service-signature': expect.stringMatching(/^v1=[0-9a-f]{64}$/),
          'x-service-event-id': event.body.event_id,
          'x-service-key-id': settings.key_id,
        });
        expect(JSON.stringify(event)).not.toMatch(/whsec_|qk_|qr_/);
      },
    );

    rule(
      ['events.verification.1', 'events.verification.2', 'events.header.signature', 'auth.7', 'versioning.signature'],
      'verifies over its raw bytes with the whole signing key, also after the API key was rotated',
      async () => {
        const { headers, raw_body: rawBody } = event;
        expect(headers['x-service-signature']).toBe(
          signatureOf(settings.signing_key, headers['x-service-timestamp']!, rawBody),
        );
        expect(isGenuine(event, settings.signing_key)).toBe(true);
      },
    );

    rule(
      'events.header.standard',
      'has the headers of Standard Webhooks: the same id and second, signed with the decoded key',
      async () => {
        const { headers, raw_body: rawBody } = event;
        const [id, timestamp] = [event.body.event_id, headers['x-service-timestamp']];
        const key = Buffer.from(settings.signing_key.slice('whsec_'.length), 'base64');
        const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${rawBody}`).digest('base64');
        expect(headers).toMatchObject({
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': `v1,${signature}`,
        });
      },
    );

    rule(
      ['events.verification.3', 'events.verification.4', 'events.header.timestamp'],
      'has a timestamp of the second in which it was sent',
      async () => {
        const sent = Number(event.headers['x-service-timestamp']);
        const arrived = Date.parse(event.received_at) / 1000;
        expect(event.headers['x-service-timestamp']).toMatch(/^\d{1,12}$/);
        expect(arrived - sent).toBeGreaterThanOrEqual(0);
        // A longer attempt would have been abandoned.
        expect(arrived - sent).toBeLessThan(16);
      },
    );

    rule(
      ['events.verification.5', 'events.verification.6'],
      'verifies by the documented rules if nothing is changed, and only then',
      async () => {
        const { headers, raw_body: rawBody } = event;
        const seconds = Number(headers['x-service-timestamp']);
        const signedFor = (timestamp: string) => ({
          ...headers,
          'x-service-timestamp': timestamp,
          'x-service-signature': signatureOf(settings.signing_key, timestamp, rawBody),
        });
        const withHeader = (name: string, value: string) => ({ ...event, headers: { ...headers, [name]: value } });
        const tampered = [
          { ...event, raw_body: rawBody.replace('10.50', '10.51') },
          { ...event, raw_body: `${rawBody} ` },
          { ...event, raw_body: JSON.stringify(JSON.parse(rawBody), null, 1) },
          withHeader('x-service-timestamp', String(seconds + 1)),
          withHeader('x-service-timestamp', `0${seconds}`),
          withHeader('x-service-event-id', event.body.event_id.replace('evt_', 'evt_0')),
          withHeader('x-service-signature', headers['x-service-signature']!.slice(3)),
          // A genuine event sent again much later, and one with an invalid timestamp.
          { ...event, received_at: new Date((seconds + 301) * 1000).toISOString() },
          { ...event, headers: signedFor(String(seconds - 301)) },
          { ...event, headers: signedFor(`${'0'.repeat(13 - String(seconds).length)}${seconds}`) },
        ];
        expect(tampered.map((webhook) => isGenuine(webhook, settings.signing_key))).toEqual(tampered.map(() => false));
        const keys = [settings.signing_key.slice('whsec_'.length), settings.key_id, `${settings.signing_key}=`];
        expect(keys.map((key) => isGenuine(event, key))).toEqual([false, false, false]);
      },
    );
  });
}
