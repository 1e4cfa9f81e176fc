import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { codeBlocks, guidePages, shellCommands } from '../support/guide.ts';

/** What the examples take for granted: the client of the quick start, and what is the shop's own. */
const givens = `
  import type { PaymentCreation, PaymentDetails, Quittance, RequestHeaders } from '@quittance/sdk';
  declare global {
    const quittance: Quittance;
    const payment: PaymentDetails;
    const creation: PaymentCreation;
    const baseUrl: string, wallet: string, paymentId: string, transactionId: string, reference: string, yesterday: string;
    const rotationSecret: string, keyId: string, signingKey: string;
    const newKeyId: string, newSigningKey: string, oldKeyId: string, oldSigningKey: string;
    const rawBody: Uint8Array, headers: RequestHeaders;
    const secrets: { store(name: string, secret: string): Promise<void> };
    type Query = (sql: string, values: readonly unknown[]) => Promise<{ rowCount: number }>;
    function inTransaction(run: (query: Query) => Promise<void>): Promise<void>;
    function saveOrder(order: { id: string; price: string }): Promise<void>;
    function markPaid(orderId: string | null, price: string): Promise<void>;
    function isGoodEnough(amount: string): boolean;
    function offerAnotherWallet(): Promise<void>;
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
    express: [join(sdk, 'node_modules', '@types', 'express', 'index.d.ts')],
  },
};

/** The examples in TypeScript and JavaScript, by names that lead back to their place. */
const examples = new Map(
  [...guidePages.keys()].flatMap((page) =>
    codeBlocks(page)
      .filter(({ language }) => language === 'ts' || language === 'js')
      .map(({ language, code }, index) => [`${page.replace('.md', '')}-${index + 1}.m${language}`, code] as const),
  ),
);

/** @returns what the compiler says of files in a folder of their own. */
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

/** The commands that pages name beside those of the quick start: the test that runs each, and what it says there. */
const runElsewhere: Record<string, [file: string, text: string]> = {
  'npm run chain': ['tests/journeys/on-one-stack/chain-commands.ts', 'commands/chain.ts'],
  'npm run rehearse': ['packages/sdk/test/rehearse/command.int.test.ts', 'src/rehearse/main.ts'],
  'npm run shop': ['tests/browser/example-shop.ts', 'commands/shop.ts'],
  'npm stop': ['tests/local-stack/commands.long.test.ts', "await npm(['stop'], env)"],
};

test('every command that a page names is one that the quick start has, or is run by another test', async () => {
  const begun = (command: string): string => command.replace('--prefix ../quittance ', '').split(' -- ')[0]!;
  const text = [...guidePages.values()].join('\n').replace(/^```[\s\S]*?^```$/gm, '');
  const named = new Set([...text.matchAll(/`((?:npm|npx|node) [^`]+)`/g)].map(([, command = '']) => begun(command)));
  const others = [...named].filter((command) => !shellCommands.map(begun).includes(command));
  expect(others.sort()).toEqual(Object.keys(runElsewhere));
  for (const [file, says] of Object.values(runElsewhere)) {
    expect([file, await readFile(join(repositoryRoot, file), 'utf8')]).toEqual([file, expect.stringContaining(says)]);
  }
});

test('only the quick start has blocks of shell commands, for its journey carries them out', () => {
  const languages = [...guidePages.keys()].flatMap((page) =>
    codeBlocks(page).map(({ language }) => (page === 'quick-start.md' ? '' : `${page} `) + language),
  );
  expect(languages.filter((language) => !/(^|\.md )(ts|js|sh)$/.test(language))).toEqual([]);
  expect(languages.filter((language) => language.endsWith('.md sh'))).toEqual([]);
});
