import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Network } from '@quittance/contracts/networks.ts';
import { readNetworks } from '@quittance/chain-reader/chain/networks.ts';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import {
  misbehavingNode,
  type Answer,
  type Call,
  type MisbehavingNode,
} from '@quittance/testkit/chain/misbehaving-node.ts';
import { networksOf, newWallet } from '@quittance/testkit/chain/samples.ts';
import { checkEndpoint, type EndpointReport } from '../src/network-check/check.ts';

let chain: TestChain;
let node: MisbehavingNode;

beforeAll(async () => {
  chain = await testChain({ keepsStates: false });
  for (let units = 1n; units <= 3n; units += 1n) await chain.transfer(newWallet(), units);
  await chain.mine(2);
  node = await misbehavingNode(chain);
});
afterAll(async () => {
  await node.close();
  await chain.close();
});
afterEach(() => node.spoil(null));

type RawReceipt = { cumulativeGasUsed: string };
type RawBlock = { extraData: string };

function check(entry: Partial<Network> = {}): Promise<EndpointReport> {
  const [network] = readNetworks(
    networksOf({ chain, entry: { rpc_urls: [node.url], receipts: 'proven', ...entry } }),
    {},
  );
  const options = { known: null, timeoutMs: 20_000, onProgress: () => undefined };
  return checkEndpoint(network!, network!.endpoints[0]!, 0, options);
}

const found = ({ findings }: EndpointReport, name: string) => findings.find((finding) => finding.check === name);

describe('an endpoint of an EVM network', () => {
  test('whose blocks can be rebuilt is said to prove its receipts, or to be ready for it, and what one endpoint means', async () => {
    const [proven, unproven] = [await check(), await check({ receipts: 'unproven' })];
    expect(found(proven, 'block proof')).toMatchObject({
      ...{ verdict: 'ok', meaning: null },
      found: expect.stringMatching(/^block \d+ of 1 transaction rebuilt$/),
    });
    expect(found(unproven, 'block proof')).toMatchObject({
      ...{ verdict: 'warning', meaning: 'blocks can be rebuilt: set receipts to proven' },
      found: expect.stringMatching(/^block \d+ of 1 transaction and \d+ before it rebuilt$/),
    });
    const [one, trusted] = [proven, unproven].map((report) => found(report, 'endpoints')!);
    expect(one).toMatchObject({ verdict: 'warning', meaning: expect.stringContaining('cannot change a transfer') });
    expect(trusted).toMatchObject({ verdict: 'warning', meaning: expect.stringContaining('every transfer') });
    expect(found(await check({ rpc_urls: [node.url, chain.rpcUrl] }), 'endpoints')).toBeUndefined();
  });

  test('that forges a receipt, or a header, is refused if the file has its receipts proven, and only then', async () => {
    const ofProof = async (forge: Parameters<MisbehavingNode['spoil']>[0], receipts: 'proven' | 'unproven') => {
      node.spoil(forge);
      const report = await check({ receipts });
      expect(report.findings.filter(({ verdict }) => verdict === 'failed').map((failed) => failed.check)).toEqual(
        receipts === 'proven' ? ['block proof'] : [],
      );
      return found(report, 'block proof');
    };
    const ofReceipts = ({ method }: Call, { result }: Answer) =>
      method === 'eth_getBlockReceipts'
        ? { result: (result as RawReceipt[]).map((receipt) => ({ ...receipt, cumulativeGasUsed: '0x1' })) }
        : undefined;
    const ofHeader = ({ method }: Call, { result }: Answer) =>
      method === 'eth_getBlockByNumber' ? { result: { ...(result as RawBlock), extraData: '0x01' } } : undefined;
    const message = expect.stringMatching(/the receipts of block \d+ do not make up its hash$/);
    const refused = { verdict: 'failed', found: message, meaning: expect.stringContaining('set unproven if all') };
    expect(await ofProof(ofReceipts, 'proven')).toMatchObject(refused);
    expect(await ofProof(ofHeader, 'proven')).toMatchObject(refused);
    const harmless = { verdict: 'unknown', found: message, meaning: 'leave receipts at unproven' };
    expect(await ofProof(ofReceipts, 'unproven')).toMatchObject(harmless);
  });

  test('without eth_getBlockReceipts proves blocks with a call for each transaction, and says so', async () => {
    const error = { code: -32_601, message: 'the method does not exist' };
    node.spoil(({ method }) => (method === 'eth_getBlockReceipts' ? { result: undefined, error } : undefined));
    const calls =
      'without eth_getBlockReceipts, a block with a transfer costs a call for each transaction: 2 for this one';
    const one = expect.stringMatching(/^block \d+ of 1 transaction rebuilt$/);
    expect(found(await check(), 'block proof')).toMatchObject({ verdict: 'warning', found: one, meaning: calls });
    expect(found(await check({ receipts: 'unproven' }), 'block proof')).toMatchObject({
      verdict: 'warning',
      found: one,
      meaning: `blocks can be rebuilt: set receipts to proven; ${calls}`,
    });
  });
});
