import { beforeAll, describe, expect } from '@jest/globals';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { expectHealthy } from '../../support/healthy.ts';
import type { Contract } from '../conformance.test.ts';
import { runCampaign } from '../support/hostile/campaign.ts';
import { allShapes } from '../../support/shapes/shapes.ts';
import { shapeProblems } from '../../support/shapes/try-shape.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { rule } from '../support/rule.ts';

/** Enough that rate limits refuse few requests. */
const MERCHANTS = amountOf({ short: 10, long: 30 });
/** Each of these statuses must be at least this share of the answers: a run that only meets a rate limit shows nothing. */
const SHARE_MIN = 0.015;
/** The same requests on every machine; `npm run nightly` makes others, and more of them. */
const SEED = 20_261_122;
const EXPECTED = [200, 201, 401, 404, 405, 409, 413, 422];

/**
 * Random and hostile requests, to the edge and to the gateway's replicas behind it, while nothing is broken. HOSTILE_SEED repeats the
 * requests of a run, HOSTILE_COUNT sets their number.
 */
export function hostileSection(contract: Contract): void {
  const seed = Number(process.env['HOSTILE_SEED'] ?? seedOf(SEED));
  const count = Number(process.env['HOSTILE_COUNT'] ?? amountOf({ short: 700, long: 10_000 }));
  const replicas = () => contract.stack.services['api-gateway'].replicas;
  const open = (many: number, access: Parameters<typeof openMerchant>[1] = {}) =>
    Promise.all(Array.from({ length: many }, () => openMerchant(contract.stack, access)));

  describe('hostile requests', () => {
    let witness: Merchant;
    beforeAll(async () => {
      [witness] = (await open(1)) as [Merchant];
    });

    rule(
      ['errors.body.1', 'service.paths'],
      `get no 5xx and no answer outside the OpenAPI document, however many and random (${count} of them)`,
      async () => {
        const [merchants, rotating] = await Promise.all([open(MERCHANTS), open(3, { webhook: false })]);
        const { statuses, failures } = await runCampaign({
          seed,
          count,
          doors: [contract.stack.edge_url, ...replicas().map(({ url }) => url)],
          workersPerDoor: 4,
          world: {
            merchants,
            rotationSecrets: rotating.map(({ rotationSecret }) => rotationSecret),
            payments: [],
            cursors: [],
          },
        });
        const run = `HOSTILE_SEED=${seed} HOSTILE_COUNT=${count} gave ${JSON.stringify(statuses)}`;
        if (failures.length > 0) throw new Error(`${run}\n\n${failures.join('\n\n')}`);
        const rare = EXPECTED.filter((status) => (statuses[status] ?? 0) < count * SHARE_MIN);
        if (rare.length > 0) throw new Error(`${run}, which is too little of ${rare.join(', ')}`);
        expect(Object.values(statuses).reduce((sum, many) => sum + many, 0)).toBe(count);
      },
      240_000,
    );

    rule(
      ['errors.body.1', 'auth.1'],
      'that two servers could read differently, or that are hardly HTTP, are refused or read as one request',
      async () => {
        const [merchant] = (await open(1)) as [Merchant];
        const { apiKey, wallet } = merchant;
        const body = JSON.stringify({ amount: '1', merchant_wallet: wallet, description: 'Order 7' });
        const shapes = allShapes({ key: `X-API-Key: ${apiKey}\r\n`, body });
        const behind = shapes.filter(({ isForEdgeOnly }) => isForEdgeOnly !== true);
        const problems = await Promise.all([
          ...shapes.map((shape) => shapeProblems(contract.stack.edge_url, shape, [apiKey])),
          ...behind.map((shape) => shapeProblems(replicas()[0]!.url, shape, [apiKey])),
        ]);
        expect(problems.flat()).toEqual([]);
      },
    );

    rule(['endpoint.create', 'errors.201'], 'do no harm: every process still runs, is ready and is small', async () => {
      await expectHealthy(Object.values(contract.stack.services).flatMap((service) => service.replicas));
      expect(await witness.created({ amount: '77' })).toMatchObject({ status: 'PENDING' });
    });
  });
}
