import { setImmediate as endOfTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sha256 } from '@quittance/contracts/ids.ts';
import { startStream } from '@quittance/http/server/reply.ts';
import { reportCsv } from '../src/merchants.ts';
import { runOps, startServices } from './world.ts';

const merchant = `mer_${'a'.repeat(32)}`;
const payment = {
  ...{ payment_id: `pay_${'b'.repeat(32)}`, merchant_id: merchant, status: 'PAID', amount: '10.50', network: 'tron' },
  ...{ created_at: '2026-01-31T12:00:00.000Z', paid_at: '2026-01-31T12:01:00.000Z', order_id: 'tea/1' },
  ...{ reference: 'ABCDEFG1', found_by: 'transaction_id' },
};

describe('payment find', () => {
  const token = 'T'.repeat(43);
  const hash = sha256(token).toString('hex');
  const transaction = 'AB'.repeat(32);
  const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';

  test.each<[what: string, text: string, asked: Record<string, string>]>([
    ['a payment id', payment.payment_id, { payment_id: payment.payment_id }],
    ['a link', `https://pay.example/pay/${token}?lang=de`, { token_sha256: hash }],
    ['a token', token, { token_sha256: hash }],
    ['a transaction', `0x${transaction}`, { transaction_id: transaction.toLowerCase() }],
    ['a wallet', wallet.toLowerCase(), { merchant_wallet: wallet }],
    ['a reference', 'abcdefg1', { reference: 'abcdefg1' }],
    ['an order id', ' tea/1 ', { order_id: 'tea/1' }],
  ])('takes %s', async (what, text, asked) => {
    await using services = await startServices({
      'GET /payments': () => ({ status: 200, body: { payments: [payment] } }),
    });
    const result = await runOps(['payment', 'find', text], services.env);
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/tea\/1 .* transaction id\n$/);
    expect(result.stderr).toContain(`payment show ${payment.payment_id}`);
    const query = Object.fromEntries(new URLSearchParams(services.calls[0]!.query));
    // It may also be somebody's order id, and a token in clear is never asked for by one.
    expect(query).toEqual({ order_id: text.trim(), ...asked });
    expect(what).toMatch(/^an? /);
  });

  test('answers in JSON', async () => {
    await using services = await startServices({ 'GET /payments': () => ({ status: 200, body: { payments: [] } }) });
    const result = await runOps(['payment', 'find', 'tea', '--json'], services.env);
    expect([result.code, JSON.parse(result.stdout), result.stderr]).toEqual([0, { payments: [] }, '']);
  });
});

describe('payment list', () => {
  const words = ['payment', 'list', '--merchant', merchant];
  const span = ['--status', 'PAID', '--from', '2026-01-01', '--to', '2026-01-31'];
  const asked = { status: 'PAID', created_from: '2026-01-01T00:00:00.000Z', created_to: '2026-02-01T00:00:00.000Z' };
  const exportOf = (pieces: () => AsyncGenerator<Buffer, void>) =>
    startServices({
      'GET /merchants/:id/payments/export': async () => ({ status: 200, body: await startStream(pieces()) }),
    });

  const page = { payments: [{ ...payment, merchant_id: merchant }], next_cursor: 'next', searched_to: null };
  const listing = (more: object = {}) =>
    startServices({
      'GET /payment-list': () => ({ status: 200, body: { ...page, ...more } }),
      'GET /merchants': () => ({
        status: 200,
        body: { merchants: [{ merchant_id: merchant }, { merchant_id: other }] },
      }),
    });
  const other = merchant.replace(/.$/, 'f');
  const queryOf = (call: { query: string } | undefined) => Object.fromEntries(new URLSearchParams(call?.query));

  test('shows a page, and how to get the next one', async () => {
    await using services = await listing();
    const result = await runOps([...words, ...span, '--cursor', 'this'], services.env);
    expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('There may be older ones: ')]);
    expect(result.stderr).toContain('--cursor next');
    expect(result.stdout).toContain(payment.payment_id);
    expect(result.stdout).toContain(merchant);
    expect(queryOf(services.calls[0])).toEqual({ ...asked, merchants: merchant, cursor: 'this' });
  });

  test('searches the payments of all merchants, and says how far back it looked', async () => {
    await using services = await listing({ payments: [], searched_to: '2026-01-02T03:04:05.006Z' });
    const filters = ['--text', '49.9', '--network', 'tron', '--min', '1', '--max', '2.5'];
    const result = await runOps(['payment', 'list', ...filters], services.env);
    expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('Searched back to 2026-01-02 03:04:05Z')]);
    expect(result.stderr).toContain('--text 49.9 ');
    expect(result.stderr).toContain('--cursor next');
    expect(queryOf(services.calls[0])).toEqual({ text: '49.9', network: 'tron', amount_min: '1', amount_max: '2.5' });
  });

  test('finds the merchants of a name first', async () => {
    await using services = await listing();
    const { code } = await runOps(['payment', 'list', '--merchant', 'Tea shop'], services.env);
    expect(code).toBe(0);
    expect(services.calls.map(queryOf)).toEqual([{ name: 'Tea shop' }, { merchants: `${merchant},${other}` }]);
  });

  test.each([
    [[], 'no merchant'],
    [Array.from({ length: 21 }, () => ({ merchant_id: merchant })), 'more than 20'],
  ])('lists nothing for a name of %j', async (merchants, why) => {
    await using services = await startServices({ 'GET /merchants': () => ({ status: 200, body: { merchants } }) });
    const result = await runOps(['payment', 'list', '--merchant', 'Tea shop'], services.env);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  });

  test('--csv prints the export as it comes', async () => {
    await using services = await exportOf(async function* () {
      for (const text of ['payment_id\r\n', 'pay_1\r\n']) {
        await endOfTurn();
        yield Buffer.from(text);
      }
    });
    const result = await runOps([...words, ...span, '--csv'], services.env);
    expect(result).toEqual({ code: 0, stdout: 'payment_id\r\npay_1\r\n', stderr: '' });
    expect(Object.fromEntries(new URLSearchParams(services.calls[0]!.query))).toEqual(asked);
  });

  test('--csv fails when the export breaks off', async () => {
    await using services = await exportOf(async function* () {
      yield Buffer.from('payment_id\r\n');
      await endOfTurn();
      throw new Error('the database is gone');
    });
    const result = await runOps([...words, '--csv'], services.env);
    expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining('not all of it') });
  });

  test('--csv says when another export is under way', async () => {
    await using services = await startServices({
      'GET /merchants/:id/payments/export': () => ({ status: 429, body: { detail: 'Another export is under way' } }),
    });
    const result = await runOps([...words, '--csv'], services.env);
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('Another export is under way') });
  });

  test.each([[['--csv', '--json']], [['--csv', '--text', 'tea']], [['--from', 'yesterday']], [['--status', 'paid']]])(
    'refuses %j',
    async (more) => {
      const { code } = await runOps([...words, ...more], { INTERNAL_TOKEN: 'x', PAYMENTS_URL: 'http://127.0.0.1:1' });
      expect(code).toBe(2);
    },
  );
});

describe('merchant report', () => {
  const totals = { created: 3, paid: 2, paid_amount: '20.5', expired: 1, cancelled: 0, paid_prices: {} };
  const report = { rows: [{ period: '2026-01', network: 'tron', ...totals }], totals };
  const words = ['merchant', 'report', merchant, '--from', '2026-01-01', '--to', '2026-01-31', '--group', 'month'];
  const services = () => startServices({ 'GET /merchants/:id/report': () => ({ status: 200, body: report }) });

  test('has a row for each period and network, and all of them', async () => {
    await using running = await services();
    const { code, stdout } = await runOps(words, running.env);
    expect([code, stdout.split('\n')[1]]).toEqual([
      0,
      '2026-01  tron           3     2         20.5        1          0',
    ]);
    expect(stdout.split('\n')[2]).toMatch(/^all /);
    expect(Object.fromEntries(new URLSearchParams(running.calls[0]!.query))).toEqual({
      ...{ from: '2026-01-01', to: '2026-01-31', group: 'month', by: 'payment' },
    });
    await runOps([...words, '--by', 'chain'], running.env);
    expect(running.calls[1]!.query).toContain('by=chain');
    expect((await runOps([...words, '--by', 'time'], running.env)).code).toBe(2);
  });

  test('is CSV or JSON where that is asked for', async () => {
    await using running = await services();
    const csv = await runOps([...words, '--csv'], running.env);
    expect(csv.stdout).toBe(
      'period,network,created,paid,paid_amount,expired,cancelled,paid_prices\r\n2026-01,tron,3,2,20.5,1,0,\r\n',
    );
    const json = await runOps([...words, '--json'], running.env);
    expect(JSON.parse(json.stdout)).toEqual(report);
  });

  test('is no CSV that a spreadsheet would run, in whatever locale', async () => {
    const hostile = { ...report, rows: [{ ...report.rows[0], network: "tron;=cmd|'/C calc'!A0" }] };
    await using running = await startServices({ 'GET /merchants/:id/report': () => ({ status: 200, body: hostile }) });
    const { stdout } = await runOps([...words, '--csv'], running.env);
    expect(stdout.split('\r\n')[1]).toBe("2026-01,tron;'=cmd|'/C calc'!A0,3,2,20.5,1,0,");
  });

  test('is split nowhere into a cell that begins a formula', () => {
    const unit = fc.constantFrom(...Array.from(',;\t\r\n =+-@＝"\'a0\u00a0\u200b'));
    const texts = fc.string({ unit, maxLength: 20 });
    fc.assert(
      fc.property(texts, texts, (period, network) => {
        const csv = reportCsv({ rows: [{ period, network, ...totals }], totals });
        const cells = csv.split(/[,;\t\r\n]/).map((cell) => cell.replace(/^["\s\u200b]+/, ''));
        expect(cells.filter((cell) => /^[=+\-@＝]/.test(cell))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});
