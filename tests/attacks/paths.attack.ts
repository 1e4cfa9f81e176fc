import { Wallet } from 'ethers';
import type { NewApiKey } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { newPublicToken } from '@quittance/contracts/ids.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { bytesOf, fewAtATime, send } from '../support/http.ts';
import { openMerchant, type Merchant } from '../support/merchant.ts';
import { asOperator } from '../support/operator.ts';
import { tokenOf } from '../support/paying.ts';
import { NoAnswer, RawConnection } from '../support/raw.ts';
import type { Attack, Check } from './attack.ts';
import { ask, askAs } from './support/ask.ts';
import { flood } from './support/flood.ts';
import { declaredCalls } from '../../packages/contracts/test/declared-calls.ts';
import { pathWithIds } from './support/internal-calls.ts';

export const attack: Attack = {
  name: 'paths',
  about: 'spellings of paths, hosts, methods and headers that try to get past the edge, a limit or a key',
  async checks({ stack }) {
    const merchant = await openMerchant(stack);
    return [
      internal(stack),
      ...detours(stack),
      ...limits(stack, merchant),
      hosts(stack, merchant),
      methods(merchant),
      claims(stack, merchant),
      origins(stack, merchant),
    ];
  },
};

/** All valid credentials, so that only the edge can refuse. */
const keysOf = (stack: StackFile) => ({
  ...callAs(stack, 'api-gateway'),
  'X-API-Key': stack.merchant.api_key,
});

const internal = (stack: StackFile): Check => ({
  name: 'the public door leads to no internal call, probe or metrics, whatever is in the request',
  async run(trial) {
    const probes = [
      '/metrics',
      '/livez',
      '/readyz',
      '/internal',
      '/internal/',
      '/.refused',
      '/.headers_too_large',
      '/nginx_status',
    ];
    const paths = [
      ...declaredCalls.map((call) => ({ method: call.method, path: pathWithIds(call) })),
      ...probes.map((path) => ({ method: 'GET', path })),
    ];
    const answers = await fewAtATime(
      paths.map(
        ({ method, path }) =>
          () =>
            ask(method, stack.edge_url + path, { headers: keysOf(stack) }),
      ),
    );
    for (const [index, { status, text }] of answers.entries())
      trial.same(
        `${paths[index]!.method} ${paths[index]!.path}`,
        [status, text],
        [404, '{"detail":"Not found","code":"not_found"}'],
      );
  },
});

/** The same places through a public path, a spelling of `..`, and the internal path. */
function detours(stack: StackFile): Check[] {
  const ways = {
    'dots and slashes as they are': ['..', '.'],
    'encoded dots': ['%2e%2e', '.%2e', '%2e.', '%2E%2E', '%252e%252e', '%c0%ae%c0%ae', '%u002e%u002e'],
    'dots with something behind them': [
      '..;',
      '..;x=y',
      '..%00',
      '..%20',
      '..%09',
      '...',
      '..%0d%0a',
      '..#',
      '..%23',
      '..%3f',
    ],
    'encoded slashes and backslashes': [
      '..%2f..%2f',
      '..%2F..',
      '..%5c..',
      '..\\..',
      '..%c0%af..',
      '..%ef%bc%8f..',
      '%2f..',
      '..%252f..',
    ],
    'doubled slashes': ['/..', '../', '/../', './/..', '//'],
  };
  const doors = ['/api/v1/', '/api/v1/payments/', '/pay/', '/assets/', '/docs/', '/openapi.json/'];
  const places = ['internal/v1/merchants', 'metrics', 'readyz'];
  return Object.entries(ways).map(([name, steps]) => ({
    name: `${name} lead to no internal path`,
    async run(trial) {
      const targets = doors.flatMap((door) =>
        steps.flatMap((step) =>
          places.map((place) => `${door}${`${step}/`.repeat(Math.max(1, door.split('/').length - 2))}${place}`),
        ),
      );
      const answers = await fewAtATime(targets.map((target) => () => answerTo(stack, target)));
      for (const [index, { status, text }] of answers.entries()) {
        const isShut = [400, 401, 404].includes(status) && !/# HELP|"merchants"|"ok"/.test(text);
        trial.holds(isShut, () => `${targets[index]} was answered ${status} ${text.slice(0, 120)}`);
      }
    },
  }));
}

/** Byte by byte, because a client would normalize the path. A connection that is just closed is an answer too. */
const callHeader = (stack: StackFile): string =>
  Object.entries(callAs(stack, 'api-gateway'))
    .map((header) => header.join(': '))
    .join('\r\n');

async function answerTo(stack: StackFile, target: string): Promise<{ status: number; text: string }> {
  const connection = new RawConnection(stack.edge_url);
  // No API key: a request that reaches the gateway's own routes gets 401 there.
  const headers = `Host: x\r\n${callHeader(stack)}\r\nConnection: close\r\n`;
  try {
    return await connection.ask(`GET ${target} HTTP/1.1\r\n${headers}\r\n`, 'GET');
  } catch (error) {
    if (error instanceof NoAnswer && !error.isTimeout) return { status: 400, text: '' };
    throw error;
  } finally {
    connection.close();
  }
}

function limits(stack: StackFile, merchant: Merchant): Check[] {
  return [
    {
      name: 'no spelling of a path allows more reads of public statuses',
      async run(trial) {
        const token = newPublicToken();
        const encoded = Array.from(token, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
        await flood(trial, { burst: 20, perSecond: 5 }, 120, (from, index) => {
          const at = index % token.length;
          const spelled = token.slice(0, at) + encoded[at]! + token.slice(at + 1);
          return send('GET', `${stack.edge_url}/api/v1/payments/${spelled}${index % 2 ? '' : `?x=${index}`}`, { from });
        });
      },
    },
    {
      name: "a token's counter counts every spelling of the token, from any address",
      async run(trial) {
        const token = tokenOf(await merchant.created({ amount: '6.01' }));
        const spelled = (index: number) => {
          const at = index % token.length;
          return `${token.slice(0, at)}%${token.charCodeAt(at).toString(16)}${token.slice(at + 1)}`;
        };
        const startedAt = performance.now();
        const answers = await fewAtATime(
          Array.from(
            { length: 260 },
            (_, index) => () => send('GET', `${stack.edge_url}/api/v1/payments/${spelled(index)}`),
          ),
        );
        // A slow machine needs several windows.
        const windows = 1 + Math.floor((performance.now() - startedAt) / 60_000);
        const admitted = answers.filter(({ status }) => status === 200).length;
        trial.holds(admitted <= 120 * windows, () => `${admitted} looks were admitted in ${windows} windows`);
        trial.holds(admitted === 0 || answers.some(({ status }) => status === 429), () => 'no look was refused');
      },
    },
    {
      name: 'several keys of one merchant, and several addresses, share one counter of creations',
      async run(trial) {
        const { apiKey, merchantId } = await openMerchant(stack);
        const path = `/merchants/${merchantId}/api-keys`;
        const second = await asOperator<NewApiKey>(stack, 'POST', path, { name: 'second', scope: 'all' });
        const wallet = Wallet.createRandom().address;
        const startedAt = performance.now();
        const answers = await fewAtATime(
          Array.from(
            { length: 70 },
            (_, index) => () =>
              send('POST', `${stack.edge_url}/api/v1/payments`, {
                headers: { 'X-API-Key': index % 2 ? apiKey : second.api_key, 'Idempotency-Key': `flood-${index}` },
                body: {
                  amount: `1.${String(index).padStart(2, '0')}`,
                  merchant_wallet: wallet,
                  description: 'A flood',
                },
              }),
          ),
        );
        const windows = 1 + Math.floor((performance.now() - startedAt) / 60_000);
        const created = answers.filter(({ status }) => status === 201).length;
        trial.holds(created > 0 && created <= 30 * windows, () => `${created} were created in ${windows} windows`);
      },
    },
  ];
}

const hosts = (stack: StackFile, merchant: Merchant): Check => ({
  name: 'a host that the client invents is in no link, redirect or page',
  async run(trial) {
    const evil = 'evil.example';
    const headers = {
      Host: evil,
      'X-Forwarded-Host': evil,
      'X-Host': evil,
      'X-Forwarded-Server': evil,
      Forwarded: `host=${evil}`,
    };
    const created = await askAs(merchant, 'POST', '/api/v1/payments', {
      headers: { ...headers, 'Idempotency-Key': 'by-another-host' },
      body: { amount: '6.02', merchant_wallet: merchant.wallet, description: 'A link' },
    });
    trial.holds(created.status === 201, () => `the creation was answered ${created.status} ${created.text}`);
    const page = new URL(created.json<{ payment_url: string }>().payment_url).pathname;
    const paths = [page, '/docs', '/docs/api', '/openapi.json', '/api/v1/nothing', '/pay/nothing'];
    const answers = await Promise.all(paths.map((path) => ask('GET', stack.edge_url + path, { headers })));
    for (const [index, { text, rawHeaders }] of [created, ...answers].entries())
      trial.holds(
        !text.includes(evil) && !rawHeaders.join().includes(evil),
        () => `${['POST', ...paths][index]} names ${evil}`,
      );
  },
});

const methods = (merchant: Merchant): Check => ({
  name: 'no header, query or field changes the method of a request',
  async run(trial) {
    const payment = await merchant.created({ amount: '6.03' });
    const path = `/api/v1/payments/${payment.payment_id}`;
    const names = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'];
    for (const name of names) {
      const { status } = await askAs(merchant, 'GET', `${path}/cancel`, { headers: { [name]: 'POST' } });
      trial.same(`GET …/cancel with ${name}`, status, 405);
    }
    const byQuery = await askAs(merchant, 'GET', `${path}/cancel?_method=POST`);
    trial.same('GET …/cancel?_method=POST', byQuery.status, 405);
    const put = await askAs(merchant, 'POST', '/api/v1/merchant/webhook', {
      headers: { 'X-HTTP-Method-Override': 'PUT' },
      body: { url: 'https://other.example.com/', _method: 'PUT' },
    });
    trial.same('POST …/webhook as PUT', put.status, 405);
    const { text } = await askAs(merchant, 'GET', `${path}/details`);
    trial.holds(text.includes('"status":"PENDING"'), () => `the payment is not PENDING: ${text.slice(0, 200)}`);
  },
});

const claims = (stack: StackFile, merchant: Merchant): Check => ({
  name: 'headers that name a user, a path or a trusted caller in other systems change nothing',
  async run(trial) {
    const claimed: Record<string, string> = {
      'X-Original-URL': '/internal/v1/merchants',
      'X-Rewrite-URL': '/internal/v1/merchants',
      'X-Forwarded-Prefix': '/internal',
      'X-Forwarded-Proto': 'http',
      'X-Merchant-Id': stack.merchant.merchant_id,
      'X-User': 'admin',
      'X-Body-Too-Large': '1',
      ...callAs(stack, 'api-gateway'),
      'X-Operator-Token': 'x.y',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    const plain = bytesOf(await askAs(merchant, 'GET', '/api/v1/payments'));
    for (const [name, value] of Object.entries(claimed)) {
      const read = await askAs(merchant, 'GET', '/api/v1/payments', { headers: { [name]: value } });
      trial.same(name, bytesOf(read), plain);
      const nobody = await ask('GET', `${stack.edge_url}/api/v1/payments`, { headers: { [name]: value } });
      trial.same(`${name} without a key`, nobody.status, 401);
    }
  },
});

const origins = (stack: StackFile, merchant: Merchant): Check => ({
  name: 'no other site can read the merchant API in a browser, and nothing caches it',
  async run(trial) {
    const Origin = 'https://evil.example';
    const answers = [
      await askAs(merchant, 'GET', '/api/v1/payments', { headers: { Origin } }),
      await ask('OPTIONS', `${stack.edge_url}/api/v1/payments`, {
        headers: { Origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'x-api-key' },
      }),
    ];
    for (const { headers } of answers) {
      const allowed = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
      trial.same('what other sites may', allowed, []);
      trial.same('Cache-Control', headers['cache-control'], 'no-store');
    }
  },
});
