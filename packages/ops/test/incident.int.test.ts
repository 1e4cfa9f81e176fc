import { describe, expect, test } from '@jest/globals';
import { runOps, startServices } from './world.ts';

// Each command is a process of its own, which a busy machine may be slow to start.
const id = '5f0c7a7e-3f4e-4c1e-9a57-0d6f0c9b1f2a';
const chainId = '6f0c7a7e-3f4e-4c1e-9a57-0d6f0c9b1f2a';
const unresolved = { resolved_at: null, resolved_by: null, resolved_reason: null };
const open = {
  incident_id: id,
  kind: 'paid_transfer_gone',
  payment_id: `pay_${'b'.repeat(32)}`,
  merchant_id: `mer_${'a'.repeat(32)}`,
  network: 'local',
  transaction_id: 'c'.repeat(64),
  transaction_event_index: 3,
  block_hash: `0x${'d'.repeat(64)}`,
  opened_at: '2026-01-31T12:00:00.000Z',
  ...unresolved,
};
const halted = {
  incident_id: chainId,
  kind: 'fork_below_finalized',
  network: 'local',
  detail: { block_number: 7, reason: 'the nodes have another block 7', transfers: [{ block_number: 8 }] },
  opened_at: '2026-01-31T11:00:00.000Z',
  times: 2,
  last_seen_at: '2026-01-31T11:30:00.000Z',
  ...unresolved,
};
const resolution = { resolved_at: '2026-01-31T13:00:00.000Z', resolved_by: 'olga', resolved_reason: 'repaid' };
const ofPayments = { service: 'payments', about: 'payment' };
const ofChain = { service: 'chain-watcher', about: 'network' };
const nobody = 'http://127.0.0.1:1';

/** payments and chain-watcher, each answering the list and the resolution of its own incidents. */
async function startBoth(payments: object[], chain: object[]) {
  const answers = (incidents: object[]) => ({
    'GET /incidents': () => ({ status: 200, body: { incidents } }),
    'POST /incidents/:id/resolve': ({ params }: { params: Record<string, string> }) => {
      const mine = incidents.find((incident) => (incident as { incident_id: string }).incident_id === params['id']);
      return mine
        ? { status: 200, body: { ...mine, ...resolution } }
        : { status: 404, body: { detail: 'Incident not found' } };
    },
  });
  const [first, second] = [await startServices(answers(payments)), await startServices(answers(chain))];
  return {
    payments: first,
    chain: second,
    env: { ...first.env, CHAIN_WATCHER_URL: second.env.CHAIN_WATCHER_URL },
    async [Symbol.asyncDispose]() {
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    },
  };
}

describe('incident list', () => {
  test.each([
    [[], 'status=open', 'status=open'],
    [['--all'], 'status=all', 'status=all'],
    [['--before', `${id},${chainId}`], `status=open&before=${id}`, `status=open&before=${chainId}`],
    [['--before', `${id},none`], `status=open&before=${id}`, 'status=open'],
  ])('%j asks both services', async (words, ofPaymentsQuery, ofChainQuery) => {
    await using services = await startBoth([open], [halted]);
    const result = await runOps(['incident', 'list', ...words, '--json'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout)).toEqual({
      incidents: [
        { ...open, ...ofPayments },
        { ...halted, ...ofChain },
      ],
      next_before: null,
      silent: [],
    });
    const asked = { method: 'GET', path: '/incidents', body: null };
    expect(services.payments.calls).toEqual([{ ...asked, query: ofPaymentsQuery }]);
    expect(services.chain.calls).toEqual([{ ...asked, query: ofChainQuery }]);
  });

  test.each([
    [99, 0, ''],
    [100, 0, `There may be older ones: incident list --all --before ${id},none\n`],
    [0, 100, `There may be older ones: incident list --all --before none,${chainId}\n`],
    [60, 41, `There may be older ones: incident list --all --before ${id},${chainId}\n`],
  ])('of %s and %s says how to go on, to a person only', async (many, others, hint) => {
    await using services = await startBoth(
      Array.from({ length: many }, () => open),
      Array.from({ length: others }, () => halted),
    );
    expect((await runOps(['incident', 'list', '--all'], services.env)).stderr).toBe(hint);
    expect((await runOps(['incident', 'list', '--all', '--json'], services.env)).stderr).toBe('');
  });

  test('is a table for people, newest first, that says what each is about', async () => {
    await using services = await startBoth([{ ...open, ...resolution }], [halted]);
    const { stdout } = await runOps(['incident', 'list', '--all'], services.env);
    const [, first, second] = stdout.split('\n');
    expect(first).toMatch(new RegExp(`^paid_transfer_gone .* payment +${open.payment_id} +local +${id} +1 `));
    expect(first).toMatch(/2026-01-31 13:00:00Z +olga$/);
    expect(second).toMatch(new RegExp(`^fork_below_finalized .* network +local +local +${chainId} +2 `));
  });

  test.each([
    ['PAYMENTS_URL', 'payments', { ...halted, ...ofChain }],
    ['CHAIN_WATCHER_URL', 'chain-watcher', { ...open, ...ofPayments }],
  ])('without %s shows the rest, says that %s gave no answer, and exits 3', async (setting, service, incident) => {
    await using services = await startBoth([open], [halted]);
    const result = await runOps(['incident', 'list', '--json'], { ...services.env, [setting]: nobody });
    expect(result).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`${service} at ${nobody} gave no answer`),
    });
    expect(JSON.parse(result.stdout)).toMatchObject({
      incidents: [incident],
      silent: [expect.stringContaining(service)],
    });
  });

  test('without either shows nothing at all', async () => {
    await using services = await startBoth([], []);
    const env = { ...services.env, PAYMENTS_URL: nobody, CHAIN_WATCHER_URL: nobody };
    expect(await runOps(['incident', 'list'], env)).toMatchObject({ code: 3, stdout: '' });
  });

  test('after something that is no place is wrong use', async () => {
    await using services = await startBoth([], []);
    expect(await runOps(['incident', 'list', '--before', id], services.env)).toMatchObject({ code: 2, stdout: '' });
    expect(services.payments.calls).toEqual([]);
  });
});

describe('incident resolve', () => {
  test.each([
    ['a payment', id, /^payment +pay_b+$/m],
    [
      'a network',
      chainId,
      /^block number +7\nreason +the nodes have another block 7\ntransfers +\[\{"block_number":8\}\]$/m,
    ],
  ])('about %s says who and why', async (_name, incident, about) => {
    await using services = await startBoth([open], [halted]);
    const result = await runOps(['incident', 'resolve', incident, '--reason', 'repaid'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toMatch(about);
    expect(result.stdout).toMatch(/who +olga\nwhy +repaid\n/);
    const body = { actor: 'olga', reason: 'repaid' };
    expect(services.chain.calls).toEqual([{ method: 'POST', path: `/incidents/${incident}/resolve`, query: '', body }]);
  });

  test('of one that does not exist is refused', async () => {
    await using services = await startBoth([open], []);
    const result = await runOps(['incident', 'resolve', chainId], services.env);
    expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/Incident not found/) });
  });

  test('of one that only a silent service can know does not claim that it does not exist', async () => {
    await using services = await startBoth([open], [halted]);
    const env = { ...services.env, CHAIN_WATCHER_URL: nobody };
    expect(await runOps(['incident', 'resolve', chainId], env)).toMatchObject({
      ...{ code: 3, stdout: '', stderr: expect.stringMatching(/chain-watcher at .* gave no answer/) },
    });
    expect(await runOps(['incident', 'resolve', id], env)).toMatchObject({ code: 0, stderr: '' });
  });

  test('of what is no incident id is wrong use', async () => {
    await using services = await startBoth([], []);
    expect(await runOps(['incident', 'resolve', 'yesterday'], services.env)).toMatchObject({ code: 2, stdout: '' });
    expect(services.payments.calls).toEqual([]);
  });
});
