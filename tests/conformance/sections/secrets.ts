import { resolve } from 'node:path';
import { beforeAll, describe, expect } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { live } from '../../support/careless-life.ts';
import { send } from '../../support/http.ts';
import { found, foundInTable, logsIn, readQueues, tablesOf, type Needles } from '../../support/needles.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { rule } from '../support/rule.ts';

/**
 * The only places where a public token may be in plain text: the payment, whose URL must be shown again, and the saved reply of its
 * creation, which is repeated byte by byte.
 */
const tokenPlaces = ['payments.payment: public token', 'payments.idempotent_reply: public token, its text in hex'];

/** Looks for secrets left behind, after a merchant has done everything that creates or shows a secret. */
export function secretsSection(contract: Contract): void {
  describe('secrets', () => {
    let merchant: Merchant;
    /** When it is in the logs, they are complete up to that request. */
    let lastRequestId: string;
    const refusals: string[] = [];
    const credentials: Needles = new Map();
    const tokens: Needles = new Map();

    beforeAll(async () => {
      merchant = await openMerchant(contract.stack, { webhook: false });
      lastRequestId = await live(contract.stack, merchant, { credentials, tokens, refusals });
    }, 120_000);

    const everything = (): Needles => new Map([...credentials, ...tokens]);

    rule('auth.2', 'no log holds an API key, a rotation secret, a signing key or a public token', async () => {
      const directory = resolve(repositoryRoot, contract.stack.logs);
      await eventually(async () => {
        const logs = await logsIn(directory);
        expect(logs.map(({ text }) => text).join('')).toContain(lastRequestId);
      });
      const logs = await logsIn(directory);
      expect(logs.length).toBeGreaterThan(5);
      expect(logs.flatMap(({ name, text }) => found(text, everything()).map((what) => `${name}: ${what}`))).toEqual([]);
    });

    rule(
      'auth.2',
      'no table holds a credential in plain text, and only payments and their saved replies a token',
      async () => {
        const tables = await tablesOf(contract.stack);
        const schemas = new Set(tables.map((name) => name.split('.')[0]));
        for (const schema of ['gateway', 'payments', 'chain', 'webhooks', 'quota'])
          expect([...schemas]).toContain(schema);
        const places = [];
        const needles = new Map([...everything(), [merchant.merchantId, 'merchant id']]);
        for (const name of tables) {
          places.push(...(await foundInTable(contract.stack, name, needles)).map((what) => `${name}: ${what}`));
        }
        // The same search finds texts that must be there.
        const known = [
          'gateway.merchant: merchant id',
          'payments.payment: merchant id',
          'webhooks.endpoint: merchant id',
        ];
        expect(places).toEqual(expect.arrayContaining([...known, ...tokenPlaces]));
        const leaks = places.filter((place) => !place.endsWith(': merchant id') && !tokenPlaces.includes(place));
        expect(leaks).toEqual([]);
      },
    );

    rule('auth.2', 'no queue holds a message with a secret', async () => {
      const queues = await readQueues(contract.stack);
      if (queues === null) {
        // Only a stack that was given may have a broker without a management API.
        if (process.env['CONFORMANCE_STACK']) return;
        throw new Error('the stack names no management API of its broker');
      }
      expect(queues.map(({ name }) => name)).toContain('payments.access-changed');
      for (const { messages } of queues) expect(found(messages, everything())).toEqual([]);
    });

    rule('auth.2', 'no error repeats a secret that was sent in the wrong place', async () => {
      expect(refusals.length).toBeGreaterThan(30);
      expect(refusals.filter((text) => found(text, everything()).length > 0)).toEqual([]);
    });

    rule('auth.2', 'neither metrics nor what a webhook endpoint receives hold a secret', async () => {
      const replicas = Object.values(contract.stack.services).flatMap((service) => service.replicas);
      const metrics = await Promise.all(replicas.map(({ url }) => send('GET', `${url}/metrics`)));
      for (const { status, text } of metrics) {
        expect(status).toBe(200);
        expect(text).toContain('http_');
        expect(found(text, everything())).toEqual([]);
      }
      const events = (await send('GET', contract.stack.receiver.events_url)).text;
      expect(events).toContain(merchant.host);
      expect(found(events, everything())).toEqual([]);
    });
  });
}
