import { expect, test } from '@jest/globals';
import { runOps, startServices } from './world.ts';

const merchant = `mer_${'a'.repeat(32)}`;
const address = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A';
const author = { actor: 'olga', reason: 'no reason given' };

test('wallet verify asks before it takes a wallet from a merchant, and only then', async () => {
  let owner: string | null = `mer_${'f'.repeat(32)}`;
  await using services = await startServices({
    'GET /wallets/:id': () => ({ status: 200, body: { address, merchant_id: owner } }),
    'POST /wallets/:id/proof': () => ({ status: 200, body: { address, merchant_id: merchant, taken_from: owner } }),
  });
  const words = ['wallet', 'verify', merchant, address.toLowerCase(), '--signature', '0xab'];
  const asked = await runOps(words, services.env);
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/belongs to mer_f+\..*add --yes/) });
  expect(services.calls.map(({ method }) => method)).toEqual(['GET']);
  expect(await runOps([...words, '--yes'], services.env)).toMatchObject({ code: 0, stderr: '' });
  const path = `/wallets/${address}/proof`;
  const proof = { method: 'POST', path, query: '', body: { ...author, merchant_id: merchant, signature: '0xab' } };
  expect(services.calls.at(-1)).toEqual(proof);
  for (const other of [null, merchant]) {
    owner = other;
    expect(await runOps(words, services.env)).toMatchObject({ code: 0, stderr: '' });
    expect(services.calls.at(-1)).toEqual(proof);
  }
  expect(await runOps(words.slice(0, -2), services.env)).toMatchObject({ code: 2 });
});
