import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { query } from '@quittance/contracts/query.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { openMerchant, type Merchant } from '../support/merchant.ts';
import { logsIn } from '../support/needles.ts';
import { registerMerchant } from '../support/operator.ts';
import { NoAnswer, RawConnection } from '../support/raw.ts';
import { untilReceived } from '../support/receiver.ts';
import type { Attack, Check } from './attack.ts';
import { ask, askAs } from './support/ask.ts';
import { addPerson, signIn } from './support/operators.ts';

/** Allowed texts that a program could interpret as code. */
const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  `' autofocus onfocus=alert(1) x='`,
  '</title></textarea></style><svg onload=alert(1)>',
  '<!--#exec cmd="id"--><?php echo 1 ?>',
  'javascript:alert(1)//{{constructor.constructor("1")()}}${7*7}#{7*7}',
  "=cmd|' /C calc'!A0",
  '+1+cmd|x',
  '-2+3+cmd|x',
  '@SUM(1+1)',
  '${jndi:ldap://127.0.0.1/x}',
  "'; drop table payments.payment; --",
  '%0d%0aSet-Cookie:%20a=b %00 ..%2f',
  '\\u0000\\r\\n{"level":"fatal","msg":"made up"}',
  '"},{"level":"fatal","msg":"made up"}',
  'one, "two"; three\u2028four\u2029five\ufeffsix',
  '\u200fright to left\u200e \u061c \u{e0041}\u{e0042}',
  "Tea;=cmd|' /C calc'!A0",
  '\u00a0\u3000 "=1+1"; ""-2',
];

/** Characters that no text of a merchant may have. */
const refused: Record<string, string> = {
  'a line feed': 'a\nb',
  'a carriage return and a header': 'a\r\nX-Evil: 1',
  'an escape sequence': 'a\u001b[31mred',
  'one in eight bits': 'a\u009b31mred',
  'a NUL': 'a\0b',
  'a tab': '\t=1+1',
  'a delete': 'a\u007f',
  'a right-to-left override': 'a\u202efdp.exe',
  'an isolate': 'a\u2067b',
  'half a character': 'a\ud800b',
};

type World = { stack: StackFile; merchant: Merchant; payments: Payment[]; plain: Payment };

export const attack: Attack = {
  name: 'texts',
  about:
    'texts that are markup, formulas, escape sequences or log lines, in every place where they are shown or written',
  async checks({ stack }) {
    const world = await write(stack);
    return [
      limits(world),
      page(world),
      console_(world),
      spreadsheet(world),
      lines(world),
      webhooks(world),
      headers(world),
      logs(world),
    ];
  },
};

/** A payment for each of the texts, in every field that a merchant can set, and a harmless one. */
async function write(stack: StackFile): Promise<World> {
  const merchant = await openMerchant(stack);
  const name = await askAs(merchant, 'PUT', '/api/v1/merchant/profile', {
    body: { display_name: hostile[0]!.slice(0, 60) },
  });
  if (name.status !== 200) throw new Error(`the name was answered ${name.status} ${name.text}`);
  const payments: Payment[] = [];
  for (const [index, text] of hostile.entries()) {
    const asked = { amount: `3.${String(index + 10)}`, description: text, metadata: { [`text.${index}`]: text } };
    payments.push(
      await merchant.created({
        ...asked,
        ...(query.orderId.parse(text) !== null && { order_id: text }),
        return_url: 'https://shop.example.com/a?b="><script>'.replace(/["<>]/g, encodeURIComponent),
      }),
    );
  }
  const options = { order_id: 'plain', metadata: { text: 'plain' }, return_url: 'https://shop.example.com/a' };
  const plain = await merchant.created({ amount: '3.99', description: 'Plain', ...options });
  return { stack, merchant, payments, plain };
}

const limits = ({ merchant }: World): Check => ({
  name: 'texts with control characters, reversed order or broken characters are refused, and the answer does not repeat them',
  async run(trial) {
    for (const [name, text] of Object.entries(refused)) {
      const answers = [
        await askAs(merchant, 'POST', '/api/v1/payments', {
          headers: { 'Idempotency-Key': randomUUID() },
          body: { amount: '3.01', merchant_wallet: merchant.wallet, description: text, order_id: text },
        }),
        await askAs(merchant, 'PUT', '/api/v1/merchant/profile', { body: { display_name: text } }),
      ];
      for (const { status, text: said } of answers) {
        trial.same(name, status, 422);
        trial.holds(!said.includes(text) && !hasControl(said), () => `${name} is repeated: ${JSON.stringify(said)}`);
      }
    }
  },
});

/** A page has line breaks and tabs between its lines. */
const hasControl = (text: string): boolean =>
  /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(text.replaceAll(/[\t\r\n]/g, ''));

/** The tags of a page in order, each with its attribute names, as a browser would parse them. */
const tagsOf = (page: string): string[] =>
  [
    ...page.matchAll(/<(!?\/?[a-zA-Z][^\s>/]*)((?:\s+[^\s"'>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]*))?)*)\s*\/?>/g),
  ].map(
    ([, tag, attributes = '']) =>
      `${tag} ${[...attributes.matchAll(/([^\s"'>/=]+)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]*))?/g)].map(([, name]) => name).join(' ')}`,
  );

const page = ({ payments, plain }: World): Check => ({
  name: 'the checkout page shows every text as text: it has the tags of a harmless page, and a policy that allows nothing else',
  async run(trial) {
    const harmless = await ask('GET', plain.payment_url);
    const wanted = tagsOf(harmless.text);
    trial.holds(wanted.length > 20, () => `the page has only ${wanted.length} tags`);
    for (const payment of payments) {
      const { status, text, headers } = await ask('GET', payment.payment_url);
      trial.same('the status', status, 200);
      trial.same(`the tags for ${JSON.stringify(payment.description)}`, tagsOf(text), wanted);
      trial.holds(
        !text.includes(payment.description) || !/[<>"'&]/.test(payment.description),
        () => `${payment.description} stands as it is`,
      );
      const policy = String(headers['content-security-policy']);
      trial.holds(
        /default-src 'none'/.test(policy) && /frame-ancestors 'none'/.test(policy),
        () => `the policy is ${policy}`,
      );
      trial.holds(
        !/unsafe-|\*|data:.*script|https?:/.test(policy.replace(/(?:img|form|connect)-[^;]*/g, '')),
        () => `the policy is ${policy}`,
      );
      trial.same('Referrer-Policy', headers['referrer-policy'], 'no-referrer');
    }
  },
});

const console_ = ({ stack, payments, plain, merchant }: World): Check => ({
  name: 'the console shows every text of merchants and operators as text',
  async run(trial) {
    const person = await addPerson(stack, 'viewer');
    const Cookie = await signIn(stack, person.credential);
    /** Without the console's own scripts, which are files. */
    const shown = async (path: string) =>
      (await ask('GET', stack.console_url + path, { headers: { Cookie } })).text.replace(
        /<script src="\/assets\/[\w.-]+" defer><\/script>/g,
        '',
      );
    const wanted = tagsOf(await shown(`/payments/${plain.payment_id}`));
    trial.holds(wanted.length > 20, () => `the page has only ${wanted.length} tags`);
    for (const { payment_id: id, description } of payments) {
      const text = await shown(`/payments/${id}`);
      trial.holds(text.includes(id), () => `the page of ${id} does not show it`);
      // Without an order, one line is missing.
      const added = tagsOf(text).filter((tag) => !wanted.includes(tag));
      trial.same(`what ${JSON.stringify(description)} adds to the tags`, added, []);
      trial.holds(!/<script|<svg|<img/i.test(text), () => `${description} is markup`);
    }
    const registered = await registerMerchant(stack, '<script>alert("a merchant")</script>');
    const paths = [
      `/merchants/${registered.merchant_id}`,
      '/merchants?name=%3Cscript%3E',
      `/merchants/${merchant.merchantId}`,
      '/payments?q=%3Cscript%3Ealert(1)%3C/script%3E',
      '/sign-in/link/%22%3E%3Cscript%3E',
    ];
    for (const path of paths) trial.holds(!/<script/i.test(await shown(path)), () => `${path} has a script`);
  },
});

/** The characters with which a spreadsheet of any locale begins a formula, and the apostrophe that prevents it. */
const cellBegins = String.raw`(?:^|[,;\t\r\n\u2028\u2029])[\s\p{Z}\p{C}"]*`;
const formulas = new RegExp(String.raw`${cellBegins}[=+\-@]`, 'u');
const apostrophes = new RegExp(String.raw`(${cellBegins})'(?='*[=+\-@])`, 'gu');

const spreadsheet = ({ merchant, payments }: World): Check => ({
  name: 'no cell of an export begins a formula, and every line has all of its cells',
  async run(trial) {
    const { status, text } = await exported(merchant, 'csv');
    trial.same('the export', status, 200);
    const rows = cellsOf(text);
    const [head = [], ...lines] = rows;
    trial.holds(lines.length >= payments.length, () => `the export has ${lines.length} lines`);
    for (const cells of lines) {
      trial.same('the cells of a line', cells.length, head.length);
      for (const cell of cells) trial.holds(!formulas.test(cell), () => `a cell is ${JSON.stringify(cell)}`);
    }
    const at = head.indexOf('description');
    for (const { description } of payments)
      trial.holds(
        lines.some((cells) => cells[at]?.replace(apostrophes, '$1') === description),
        () => `${description} is not there`,
      );
  },
});

const exported = (merchant: Merchant, format: string) => {
  const from = encodeURIComponent(new Date(Date.now() - 86_400_000).toISOString());
  return eventually(async () => {
    const answer = await askAs(merchant, 'GET', `/api/v1/payments/export?created_from=${from}&format=${format}`);
    // One at a time, because the one before may still be ending.
    if (answer.status === 429 || answer.status === 503) throw new Error(`the export was answered ${answer.status}`);
    return answer;
  });
};

/** A reader of RFC 4180. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [];
  for (const line of text.matchAll(/((?:"(?:[^"]|"")*"|[^",\r\n]*)(?:,(?:"(?:[^"]|"")*"|[^",\r\n]*))*)\r\n/g)) {
    const cells = [...line[1]!.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g)];
    rows.push(cells.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? ''));
  }
  return rows;
}

const lines = ({ merchant, payments }: World): Check => ({
  name: 'every line of an ndjson export is one payment, and the last says how many there were',
  async run(trial) {
    const { text } = await exported(merchant, 'ndjson');
    const values = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { description?: string; end?: number });
    trial.same('the end', values.at(-1), { end: values.length - 1 });
    for (const { description } of payments)
      trial.holds(
        values.some((value) => value.description === description),
        () => `${description} is not there`,
      );
  },
});

const webhooks = ({ stack, merchant, payments }: World): Check => ({
  name: 'a webhook carries a text unchanged, in signed JSON, with nothing else',
  async run(trial) {
    const chosen = [payments[0]!, payments[13]!, payments[15]!];
    for (const { merchant_wallet: wallet, amount } of chosen) await payOnChain(stack.chain, wallet, amount);
    for (const webhook of await untilReceived(stack, merchant.host, chosen.length)) {
      const payment = chosen.find(({ payment_id: id }) => id === webhook.body.payment_id);
      trial.same('the description', webhook.body.description, payment?.description);
      trial.holds(webhook.verified, () => 'the signature does not verify');
      trial.holds(!/[\r\n]/.test(webhook.raw_body), () => `the body has a line break: ${webhook.raw_body}`);
      const foreign = Object.keys(webhook.headers).filter((name) => /evil|cookie|level/.test(name));
      trial.same('headers that are not ours', foreign, []);
    }
  },
});

/** Texts that could become a header, a log line or a terminal command, in every part of a request. */
const injections = (stack: StackFile): string[] => {
  const host = 'Host: x\r\n';
  const escape = '\x1b]0;owned\x07\x1b[2J';
  return [
    `GET /api/v1/payments?a=%0d%0aX-Evil:%201 HTTP/1.1\r\n${host}`,
    `GET /pay/%0d%0aSet-Cookie:%20evil=1 HTTP/1.1\r\n${host}`,
    `GET /docs/%0d%0aX-Evil:%201 HTTP/1.1\r\n${host}`,
    `GET /api/v1/${encodeURIComponent(escape)} HTTP/1.1\r\n${host}`,
    `GET /api/v1/payments HTTP/1.1\r\n${host}X-Request-ID: a%0d%0aX-Evil: 1\r\n`,
    `GET /api/v1/payments HTTP/1.1\r\n${host}X-Request-ID: {"level":"fatal"}\r\n`,
    `GET /api/v1/payments HTTP/1.1\r\n${host}User-Agent: "},{"level":"fatal","msg":"made up\r\n`,
    `GET /api/v1/payments HTTP/1.1\r\n${host}User-Agent: ${escape}\r\n`,
    `GET /api/v1/payments HTTP/1.1\r\n${host}X-API-Key: ${escape}\r\n`,
    `GET /api/v1/payments HTTP/1.1\r\nHost: ${escape}\r\n`,
    `GET http://x${stack.edge_url.length}"\\n/api/v1/payments HTTP/1.1\r\n${host}`,
  ];
};

const headers = ({ stack }: World): Check => ({
  name: 'no part of a request becomes a header of the answer, at the edge and at the gateway',
  async run(trial) {
    for (const door of [stack.edge_url, stack.gateway_url, stack.console_url]) {
      for (const bytes of injections(stack)) {
        const connection = new RawConnection(door);
        const answer = await connection.ask(`${bytes}Connection: close\r\n\r\n`, 'GET').catch((error: unknown) => {
          if (error instanceof NoAnswer && !error.isTimeout) return null;
          throw error;
        });
        connection.close();
        const names = answer?.rawHeaders.filter((_text, index) => index % 2 === 0) ?? [];
        trial.holds(
          !names.some((name) => /evil|set-cookie/i.test(name)),
          () => `${JSON.stringify(bytes)} became ${names.join()}`,
        );
        trial.holds(!hasControl(answer?.text ?? ''), () => `${JSON.stringify(bytes)} is repeated`);
      }
    }
  },
});

const logs = ({ stack }: World): Check => ({
  name: 'the logs of all services have one JSON object on each line, none of them injected, and no control character',
  async run(trial) {
    const id = `end-of-texts-${randomUUID().slice(0, 8)}`;
    await ask('GET', `${stack.edge_url}/api/v1/payments`, { headers: { 'X-Request-ID': id } });
    const files = await eventually(async () => {
      const read = await logsIn(resolve(repositoryRoot, stack.logs));
      if (!read.some(({ text }) => text.includes(id))) throw new Error('the logs are behind');
      return read.filter(({ name }) => ownLog.test(name));
    });
    trial.holds(files.length >= 6, () => `only ${files.map(({ name }) => name).join()} were found`);
    for (const { name, text } of files) {
      // The last line may still be incomplete.
      for (const line of text.split('\n').slice(0, -1)) {
        const problem = lineProblem(line);
        trial.holds(problem === null, () => `${name}: ${problem}: ${JSON.stringify(line.slice(0, 300))}`);
      }
    }
  },
});

const ownLog = /^(?:api-gateway|payments|chain-watcher|webhook-dispatcher|quota|console)-\d+\.log$/;

function lineProblem(line: string): string | null {
  if (hasControl(line)) return 'a control character';
  try {
    const { level, service, msg } = JSON.parse(line) as Record<string, unknown>;
    if (typeof level !== 'string' || typeof service !== 'string') return 'no line of ours';
    return msg === 'made up' ? 'a line of the attacker' : null;
  } catch {
    return 'no JSON';
  }
}
