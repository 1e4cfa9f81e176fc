import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { addressFromHex, parseAddress } from '@quittance/contracts/address.ts';
import { formatUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import fc from 'fast-check';
import { paymentLink } from '../src/payment-link.ts';
import { WALLET } from '@quittance/testkit/sample-networks.ts';

const shipped = JSON.parse(readFileSync(new URL('../../../infra/networks.json', import.meta.url), 'utf8')) as Network[];

const EVM_WALLET = '0x929525899F4Cb34A683309b161E282cfd5552BAA';
const TRON_WALLET = 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7';

describe('the link for wallets', () => {
  test.each([
    [
      'ethereum',
      EVM_WALLET,
      `ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=${EVM_WALLET}&uint256=10500000`,
    ],
    [
      'bnb',
      EVM_WALLET,
      `ethereum:0x55d398326f99059fF775485246999027B3197955@56/transfer?address=${EVM_WALLET}&uint256=10500000000000000000`,
    ],
    [
      'polygon',
      EVM_WALLET,
      `ethereum:0xc2132D05D31c914a87C6611C10748AEb04B58e8F@137/transfer?address=${EVM_WALLET}&uint256=10500000`,
    ],
    [
      'arbitrum',
      EVM_WALLET,
      `ethereum:0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9@42161/transfer?address=${EVM_WALLET}&uint256=10500000`,
    ],
    [
      'base',
      EVM_WALLET,
      `ethereum:0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2@8453/transfer?address=${EVM_WALLET}&uint256=10500000`,
    ],
    [
      'optimism',
      EVM_WALLET,
      `ethereum:0x01bFF41798a0BcF287b996046Ca68b395DbC1071@10/transfer?address=${EVM_WALLET}&uint256=10500000`,
    ],
    [
      'optimism-bridged',
      EVM_WALLET,
      `ethereum:0x94b008aA00579c1307B0EF2c499aD98a8ce58e58@10/transfer?address=${EVM_WALLET}&uint256=10500000`,
    ],
    [
      'avalanche',
      EVM_WALLET,
      `ethereum:0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7@43114/transfer?address=${EVM_WALLET}&uint256=10500000`,
    ],
    [
      'plasma',
      EVM_WALLET,
      `ethereum:0xB8CE59FC3717ada4C02eaDF9682A9e934F625ebb@9745/transfer?address=${EVM_WALLET}&uint256=10500000`,
    ],
    [
      'celo',
      EVM_WALLET,
      `ethereum:0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e@42220/transfer?address=${EVM_WALLET}&uint256=10500000`,
    ],
    ['tron', TRON_WALLET, `tron:${TRON_WALLET}`],
  ])('of 10.50 USDT on %s', (id, merchant_wallet, link) => {
    const network = shipped.find((candidate) => candidate.id === id);
    expect(network && paymentLink({ amount: '10.50', merchant_wallet }, network)).toBe(link);
  });

  test.each(shipped.filter(({ family }) => family === 'evm'))(
    'on $id names its contract, chain and units',
    (network) => {
      expect(readBack(paymentLink({ amount: '10.50', merchant_wallet: EVM_WALLET }, network))).toEqual({
        token: network.usdt_contract,
        chain: BigInt(network.chain_id),
        recipient: EVM_WALLET,
        units: 105n * 10n ** BigInt(network.decimals - 1),
      });
    },
  );

  test.each([
    ['0.000001', 6, '1'],
    ['0.000001', 18, '1000000000000'],
    ['999999999999.999999', 18, '999999999999999999000000000000'],
    ['1', 6, '1000000'],
    ['1.000000', 6, '1000000'],
    ['0.000000000000000001', 18, '1'],
    ['40.999999999999999999', 18, '40999999999999999999'],
  ])('%s of a token with %d decimals is %s base units', (amount, decimals, units) => {
    expect(readBack(paymentLink({ amount, merchant_wallet: WALLET }, evm({ decimals }))).units).toBe(BigInt(units));
  });

  test('a wallet reads the very chain, token, recipient and amount out of it', () => {
    const addresses = fc
      .uint8Array({ minLength: 20, maxLength: 20 })
      .map((bytes) => addressFromHex('evm', `0x${Buffer.from(bytes).toString('hex')}`));
    const amounts = fc.bigInt({ min: 1n, max: 10n ** 18n - 1n });
    const decimals = fc.integer({ min: 6, max: 36 });
    const chains = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(addresses, addresses, amounts, decimals, chains, (wallet, token, amountUnits, places, chain) => {
        const network = evm({ decimals: places, chain_id: chain, usdt_contract: token });
        const link = paymentLink({ amount: formatUnits(amountUnits, 6), merchant_wallet: wallet }, network);
        const seen = readBack(link);
        expect(seen).toMatchObject({ token, chain: BigInt(chain), recipient: wallet });
        expect(parseAmount(formatUnits(seen.units, places))).toBe(amountUnits);
        // So long a link still makes a code that a screen of 320 pixels shows with four pixels a module.
        expect(link.length).toBeLessThanOrEqual(213);
      }),
    );
  });

  test('Tron wallets get the recipient and no amount, which they would take for TRX', () => {
    const network: Network = { ...evm({}), family: 'tron', usdt_contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' };
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        const wallet = addressFromHex('tron', `0x${Buffer.from(bytes).toString('hex')}`);
        const [scheme, address, ...rest] = paymentLink({ amount: '1', merchant_wallet: wallet }, network).split(
          /[:?&]/,
        );
        expect([scheme, parseAddress(address ?? '')?.address, rest]).toEqual(['tron', wallet, []]);
      }),
    );
  });

  test.each(['', '0', '-1', '1e3', '1,5', '0.0000001'])('%j is no amount to ask for', (amount) => {
    expect(() => paymentLink({ amount, merchant_wallet: WALLET }, evm({}))).toThrow(RangeError);
  });
});

function evm(differences: Partial<Network>): Network {
  return {
    id: 'local',
    family: 'evm',
    chain_id: 31337,
    rpc_urls: [],
    usdt_contract: EVM_WALLET,
    decimals: 6,
    confirmations: 1,
    finality: 'confirmations',
    poll_interval_ms: 100,
    explorer_transaction_url: null,
    ...differences,
  };
}

/** As a wallet reads EIP-681: the token it is to call, on which chain, and the two arguments of the call. */
function readBack(link: string) {
  const { protocol, pathname, searchParams } = new URL(link);
  const [, token, chain, call] = /^(0x[0-9a-fA-F]{40})@([1-9][0-9]*)\/([a-z]+)$/.exec(pathname) ?? [];
  expect([protocol, call, [...searchParams.keys()]]).toEqual(['ethereum:', 'transfer', ['address', 'uint256']]);
  const digits = searchParams.get('uint256') ?? '';
  expect(digits).toMatch(/^[1-9][0-9]*$/);
  return { token, chain: BigInt(chain ?? 0), recipient: searchParams.get('address'), units: BigInt(digits) };
}
