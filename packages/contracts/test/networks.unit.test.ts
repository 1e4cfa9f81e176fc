import { describe, expect, test } from '@jest/globals';
import { defaultNetwork, parseNetworks, type Network } from '../src/networks.ts';

const ethereum: Network = {
  id: 'ethereum',
  family: 'evm',
  chain_id: 1,
  rpc_urls: ['https://rpc.example'],
  usdt_contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  decimals: 6,
  confirmations: 12,
  finality: 'confirmations',
  poll_interval_ms: 2_000,
  explorer_transaction_url: 'https://etherscan.io/tx/0x{transaction_id}',
  default_evm: true,
};

describe('the networks file', () => {
  test('a network without RPC URLs is switched off', () => {
    const polygon = { ...ethereum, id: 'polygon', rpc_urls: [], default_evm: false };
    expect(parseNetworks([ethereum, polygon]).map(({ id }) => id)).toEqual(['ethereum']);
  });

  test('every problem is named at once', () => {
    const wrong = [{ ...ethereum, usdt_contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }, ethereum];
    expect(() => parseNetworks(wrong)).toThrow(/no evm address.*twice.*default_evm/);
  });

  test('one endpoint cannot agree with itself', () => {
    const careful = { ...ethereum, agreement_above_amount: '1000' };
    expect(() => parseNetworks([careful])).toThrow(/ethereum: agreement_above_amount needs a second endpoint/);
    const [parsed] = parseNetworks([{ ...careful, rpc_urls: ['https://a.example', { url: 'https://b.example' }] }]);
    expect(parsed?.agreement_above_amount).toBe('1000');
    const twice = ['https://a.example', { url: 'https://a.example' }];
    expect(() => parseNetworks([{ ...careful, rpc_urls: twice }])).toThrow(/an endpoint twice.*second endpoint/);
  });

  test('a threshold that is no amount is refused', () => {
    expect(() => parseNetworks([{ ...ethereum, finalized_above_amount: '1e4' }])).toThrow(/finalized_above_amount/);
  });

  test('a misspelt setting is refused', () => {
    expect(() => parseNetworks([{ ...ethereum, confirmation: 3 }])).toThrow(/additional properties: 'confirmation'/);
  });

  test('the default EVM network is the one marked', () => {
    expect(() =>
      parseNetworks([
        { ...ethereum, default_evm: false },
        { ...ethereum, id: 'base', default_evm: false },
      ]),
    ).toThrow(/must be default_evm/);
    const base = { ...ethereum, id: 'base', default_evm: false };
    expect(defaultNetwork(parseNetworks([base, ethereum]), 'evm')?.id).toBe('ethereum');
    expect(defaultNetwork([ethereum], 'tron')).toBeNull();
  });
});
