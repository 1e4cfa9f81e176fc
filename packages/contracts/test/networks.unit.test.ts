import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { defaultNetwork, networkName, parseNetworks, tokenStandard, type Network } from '../src/networks.ts';

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

  test('all problems are reported together', () => {
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

  test.each<[object, RegExp]>([
    [{ units_per_day: 1_000_000 }, /rpc_urls\[0\]: units_per_day needs unit_prices/],
    [{ unit_prices: 'alchemy' }, /rpc_urls\[0\]: unit_prices mean nothing without units_per_day/],
    [{ day_begins_at: '08:00' }, /day_begins_at means nothing without requests_per_day or units_per_day/],
    [{ units_per_day: 1, unit_prices: 'nobody' }, /unit_prices names no list that we have: alchemy, infura, quicknode/],
    [{ units_per_day: 1, unit_prices: { eth_getLogs: 75 } }, /unit_prices lack default/],
    [{ requests_per_day: 1, day_begins_at: '24:00' }, /day_begins_at/],
    [{ requests_per_day: 0 }, /requests_per_day/],
  ])('an endpoint with a plan that makes no sense (%j) is refused', (plan, problem) => {
    expect(() => parseNetworks([{ ...ethereum, rpc_urls: [{ url: 'https://a.example', ...plan }] }])).toThrow(problem);
  });

  test('a threshold that is not an amount is refused', () => {
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

describe('what customers see of a network', () => {
  const tron: Network = { ...ethereum, family: 'tron', usdt_contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' };

  test('shipped networks have the names that exchanges use', () => {
    const path = new URL('../../../infra/networks.json', import.meta.url);
    const shipped = JSON.parse(readFileSync(path, 'utf8')) as Network[];
    const switchedOn = parseNetworks(shipped.map((network) => ({ ...network, rpc_urls: ['https://rpc.example'] })));
    const names = switchedOn.map((network) => [network.id, networkName(network), tokenStandard(network)]);
    const known = [
      ['ethereum', 'Ethereum', 'ERC20'],
      ['bnb', 'BNB Smart Chain', 'BEP20'],
      ['polygon', 'Polygon', null],
      ['arbitrum', 'Arbitrum One', null],
      ['base', 'Base', null],
      ['optimism', 'Optimism', null],
      ['optimism-bridged', 'Optimism (bridged USDT)', null],
      ['avalanche', 'Avalanche C-Chain', null],
      ['plasma', 'Plasma', null],
      ['celo', 'Celo', null],
      ['tron', 'Tron', 'TRC20'],
    ];
    expect(names).toEqual(expect.arrayContaining(known));
  });

  test('without a name, it is the id with a capital', () => {
    expect(networkName({ ...ethereum, id: 'my-chain' })).toBe('My-chain');
  });

  test('without its own token standard, a Tron network has TRC20 and an EVM network has none', () => {
    expect(tokenStandard({ ...tron, id: 'nile' })).toBe('TRC20');
    expect(tokenStandard({ ...tron, token_standard: 'TRC-20' })).toBe('TRC-20');
    expect(tokenStandard(ethereum)).toBeNull();
  });

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(41)],
    ['with a line break', 'Tron\n'],
    ['with a character that turns the direction', 'Tron\u202eenorT'],
    ['with a letter of another script', 'Тron'],
    ['with markup', '<b>Tron</b>'],
    ['between blanks', ' Tron '],
    ['no text', 5],
  ])('a name or a standard that is %s is refused', (_, text) => {
    expect(() => parseNetworks([{ ...ethereum, name: text }])).toThrow(/name/);
    expect(() => parseNetworks([{ ...ethereum, token_standard: text }])).toThrow(/token_standard/);
  });

  test.each(['Ethereum', 'BNB Smart Chain', 'Polygon (PoS)', 'X', 'x'.repeat(40)])(
    'a network may be called %s',
    (name) => {
      expect(parseNetworks([{ ...ethereum, name }])[0]?.name).toBe(name);
    },
  );

  test('two enabled networks cannot have the same name', () => {
    const copy = { ...ethereum, id: 'base', name: 'ETHEREUM', default_evm: false };
    expect(() => parseNetworks([ethereum, copy])).toThrow(/base: another network is called ETHEREUM too/);
    expect(parseNetworks([ethereum, { ...copy, rpc_urls: [] }])).toHaveLength(1);
  });
});
