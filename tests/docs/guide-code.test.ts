import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import type { UnmatchedTransfer } from '@quittance/contracts/api/payment.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { codeBlocks, guidePages, shellCommands } from '../support/guide.ts';
import { below } from '../support/openapi/document.ts';

/** What the examples rely on: the client of the quick start, and the shop's own functions. */
const givens = `
  import type { PaymentCreation, Quittance, RequestHeaders, UnmatchedTransfer } from '@quittance/sdk';
  declare global {
    const quittance: Quittance;
    const creation: PaymentCreation;
    const transfer: UnmatchedTransfer;
    const chosen: { transaction_id: string; transaction_event_index: number };
    const confirmed: number | null;
    const baseUrl: string, wallet: string, paymentId: string, transactionId: string, reference: string, yesterday: string;
    const rotationSecret: string, keyId: string, signingKey: string;
    const newKeyId: string, newSigningKey: string, oldKeyId: string, oldSigningKey: string;
    const rawBody: Uint8Array, headers: RequestHeaders;
    const secrets: { store(name: string, secret: string): Promise<void> };
    type Query = (sql: string, values: readonly unknown[]) => Promise<{ rowCount: number }>;
    function inTransaction(run: (query: Query) => Promise<void>): Promise<void>;
    function saveOrder(order: { id: string; price: string }): Promise<void>;
    function markPaid(orderId: string | null, price: string): Promise<void>;
    const phrase: string;
    function addAddresses(): Promise<void>;
    function findOpenOrder(visitor: string, cart: string): Promise<{ payment_url: string } | null>;
    function countRecentOrders(visitor: string): Promise<number>;
  }`;

const sdk = join(repositoryRoot, 'packages', 'sdk');
const compilerOptions = {
  module: 'nodenext',
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  moduleDetection: 'force',
  strict: true,
  allowJs: true,
  checkJs: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  types: ['node'],
  typeRoots: [join(repositoryRoot, 'node_modules', '@types')],
  paths: {
    '@quittance/sdk': [join(sdk, 'src', 'index.ts')],
    standardwebhooks: [
      join(repositoryRoot, 'services/webhook-dispatcher/node_modules/standardwebhooks/dist/index.d.ts'),
    ],
    express: [join(sdk, 'node_modules', '@types', 'express', 'index.d.ts')],
    ethers: [join(repositoryRoot, 'infra', 'local', 'node_modules', 'ethers', 'lib.esm', 'index.d.ts')],
  },
};

/** The examples in TypeScript and JavaScript, with names that show their place. */
const examples = new Map(
  [...guidePages.keys()].flatMap((page) =>
    codeBlocks(page)
      .filter(({ language }) => language === 'ts' || language === 'js')
      .map(({ language, code }, index) => [`${page.replace('.md', '')}-${index + 1}.m${language}`, code] as const),
  ),
);

/** @returns the compiler's messages about these files in a new folder. */
async function complaintsAbout(files: ReadonlyMap<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quittance-guide-'));
  try {
    const all = new Map([...files, ['givens.d.mts', givens]]);
    for (const [name, code] of all) await writeFile(join(folder, name), code);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [...all.keys()] }));
    const compiler = join(repositoryRoot, 'node_modules', 'typescript-7', 'bin', 'tsc');
    return await promisify(execFile)(process.execPath, [compiler, '-p', folder], { cwd: folder }).then(
      () => '',
      (error: unknown) => (error as { stdout: string }).stdout,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('every example in TypeScript or JavaScript compiles against the SDK, and one that does not is noticed', async () => {
  expect(examples.size).toBeGreaterThan(15);
  const [complaints, aboutWrong] = await Promise.all([
    complaintsAbout(examples),
    complaintsAbout(new Map([['wrong.mts', 'await quittance.createPayment({ amount: 1 });']])),
  ]);
  expect(complaints).toBe('');
  expect(aboutWrong).toContain('wrong.mts');
});

const reasons = below<{ enum: UnmatchedTransfer['reason'][] }>(
  '/components/schemas/UnmatchedTransfer/properties/reason',
).node.enum;
const acceptances = [...examples].filter(([, code]) => code.includes('acceptTransfer('));

describe.each(acceptances)('the example %s, which accepts a transfer', (_, code) => {
  /** @returns the transfers it accepts. @param confirmed by a person; null if the example asks nobody. */
  async function acceptedOf(transfer: UnmatchedTransfer, confirmed: number | null): Promise<unknown[]> {
    const accepted: unknown[] = [];
    const quittance = {
      getPaymentDetails: () => Promise.resolve({ payment_id: 'pay_1', unmatched_transfers: [transfer] }),
      acceptTransfer: (_id: string, choice: unknown) => Promise.resolve(accepted.push(choice)),
    };
    const given = { quittance, paymentId: 'pay_1', transfer, chosen: transfer, confirmed };
    await (runInNewContext(`(async () => { ${stripTypeScriptTypes(code)} })()`, given) as Promise<void>);
    return accepted;
  }
  const ofReason = (reason: UnmatchedTransfer['reason'], candidate_count: number): UnmatchedTransfer => ({
    ...{ transaction_id: 'ab'.repeat(32), transaction_event_index: 0, amount: '9' },
    ...{ block_timestamp: '2026-03-14T09:57:11.000Z', reason, candidate_count },
  });

  test('accepts no transfer that may be for another payment unless a person has confirmed it, and none that paid one', async () => {
    for (const reason of reasons) {
      expect([reason, await acceptedOf(ofReason(reason, 2), null)]).toEqual([reason, []]);
      expect([reason, await acceptedOf(ofReason(reason, 2), 3)]).toEqual([reason, []]);
    }
    expect(await acceptedOf(ofReason('ambiguous', 1), null)).toEqual([]);
    for (const confirmed of [null, 1, 2])
      for (const count of [1, 2]) expect(await acceptedOf(ofReason('paid_another', count), confirmed)).toEqual([]);
  });

  test('accepts the transfer that it is for', async () => {
    const clear = await acceptedOf(ofReason('underpaid', 1), null);
    const confirmed = await acceptedOf(ofReason('ambiguous', 2), 2);
    expect(clear.length + confirmed.length).toBe(1);
    if (confirmed.length === 1) expect(confirmed).toMatchObject([{ confirm_candidates: 2 }]);
  });
});

/** Commands that pages name in addition to those of the quick start: the test that runs each, and how it does. */
const runElsewhere: Record<string, [file: string, text: string]> = {
  'npm run chain': ['tests/journeys/on-one-stack/chain-commands.ts', 'commands/chain.ts'],
  'npm run rehearse': ['packages/sdk/test/rehearse/command.int.test.ts', 'src/rehearse/main.ts'],
  'npm run shop': ['tests/browser/example-shop.ts', 'commands/shop.ts'],
  'npm stop': ['tests/local-stack/commands.long.test.ts', "await npm(['stop'], env)"],
};

test('every command that a page names is in the quick start, or is run by another test', async () => {
  const begun = (command: string): string => command.replace('--prefix ../quittance ', '').split(' -- ')[0]!;
  const text = [...guidePages.values()].join('\n').replace(/^```[\s\S]*?^```$/gm, '');
  const named = new Set([...text.matchAll(/`((?:npm|npx|node) [^`]+)`/g)].map(([, command = '']) => begun(command)));
  const others = [...named].filter((command) => !shellCommands.map(begun).includes(command));
  expect(others.sort()).toEqual(Object.keys(runElsewhere));
  for (const [file, says] of Object.values(runElsewhere)) {
    expect([file, await readFile(join(repositoryRoot, file), 'utf8')]).toEqual([file, expect.stringContaining(says)]);
  }
});

test('only pages whose journeys run them have blocks of shell commands', () => {
  const journeys = ['any-language.md', 'prove-a-payment.md', 'quick-start.md'];
  const languages = [...guidePages.keys()].flatMap((page) =>
    codeBlocks(page).map(({ language }) => (journeys.includes(page) ? '' : `${page} `) + language),
  );
  expect(languages.filter((language) => !/(^|\.md )(ts|js|sh)$/.test(language))).toEqual([]);
  expect(languages.filter((language) => language.endsWith('.md sh'))).toEqual([]);
});
