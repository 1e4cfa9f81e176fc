import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { errorCodes } from '@quittance/contracts/error-code.ts';
import { PROVEN_TRANSFERS_MAX } from '@quittance/contracts/api/proof.ts';
import { paymentStatuses } from '@quittance/contracts/api/payment.ts';
import { hasProvenReceipts, type Network } from '@quittance/contracts/networks.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { guideFolder, guidePages } from '../support/guide.ts';
import { below, openApi } from '../support/openapi/document.ts';

const page = (name: string): string => guidePages.get(name)!;

/** The cells of every row of a page's tables, without headers and code marks. */
const rows = (text: string): string[][] =>
  [...text.matchAll(/^\|(.+)\|$/gm)]
    .map(([, row = '']) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .filter(([first = '']) => !/^-+$/.test(first));

describe('docs/guide', () => {
  test('has no page that its index does not link to', () => {
    const listed = [...page('README.md').matchAll(/^- \[[^\]]+\]\(([\w-]+\.md)\)/gm)].map(([, file]) => file);
    expect(listed.sort()).toEqual([...guidePages.keys()].filter((name) => name !== 'README.md').sort());
  });

  test('has no broken link to a page of ours', () => {
    const links = [...guidePages].flatMap(([from, text]) =>
      [...text.matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, target = '']) => ({ from, target })),
    );
    expect(links.length).toBeGreaterThan(40);
    const broken = links.filter(({ from, target }) => {
      const [file = '', fragment] = target.split('#');
      const path = join(guideFolder, file === '' ? from : file);
      return !existsSync(path) || (fragment !== undefined && !headingsOf(path).includes(fragment));
    });
    expect(broken).toEqual([]);
  });

  test('says what to do for every error code, with its status', () => {
    const inCode = Object.entries(errorCodes).flatMap(([status, codes]) => codes.map((code) => [status, code]));
    const inGuide = rows(page('errors.md')).filter(([status = '']) => /^\d{3}$/.test(status));
    expect(inGuide.map(([status, code]) => [status, code]).sort()).toEqual(inCode.sort());
    for (const [, code, advice] of inGuide) expect([code, advice]).toEqual([code, expect.stringMatching(/\w+ \w+/)]);
    const documented = ['ErrorCode', 'AccessCode'].flatMap(
      (name) => (openApi.components.schemas[name] as { enum: string[] }).enum,
    );
    expect(inGuide.map(([, code]) => code)).toEqual(expect.arrayContaining(documented));
  });

  test('has the limits of docs/openapi.yaml', () => {
    const limits = rows(page('limits.md')).filter(([, window = '']) => / s$/.test(window));
    const told = rows(openApi.info.description).filter(([, window = '']) => /^\d+ \/ \d+ s$/.test(window));
    expect(limits.map(([name, window]) => [name, window])).toEqual(told.map(([name, window]) => [name, window]));
    expect(told).toHaveLength(7);
  });

  test.each([
    ['statuses.md', 'every status', paymentStatuses],
    ['statuses.md', 'everything that a payment waits for', ['confirmations', 'finality', 'second_endpoint']],
    ['wrong-amounts.md', 'every reason', enumOf('UnmatchedTransfer', 'reason')],
    ['wrong-amounts.md', 'every explanation', enumOf('FoundTransfers', 'explanation_code')],
  ])('%s explains %s', (name, _, words) => {
    expect(words.length).toBeGreaterThan(2);
    expect(rows(page(name)).map(([first]) => first)).toEqual(expect.arrayContaining([...words]));
  });

  test('has the shipped networks by name, with their confirmations and caps', () => {
    type Shipped = {
      id: string;
      name: string;
      token_standard?: string;
      confirmations: number;
      finalized_above_amount?: string;
    };
    const shipped = JSON.parse(readFileSync(join(repositoryRoot, 'infra', 'networks.json'), 'utf8')) as Shipped[];
    const told = rows(page('networks.md')).slice(1);
    expect(told.map(([name, id, confirmations, , large]) => [name, id, confirmations, large !== 'the same'])).toEqual(
      shipped.map(({ id, name, token_standard: standard, confirmations, finalized_above_amount: cap }) => [
        standard === undefined ? name : `${name} (${standard})`,
        id,
        String(confirmations),
        cap === '10000',
      ]),
    );
  });
});

test('prove-a-payment.md has the shipped networks whose blocks are proven, and the most transfers of a proof', () => {
  const shipped = JSON.parse(readFileSync(join(repositoryRoot, 'infra', 'networks.json'), 'utf8')) as Network[];
  expect(page('prove-a-payment.md')).toContain(`more than ${PROVEN_TRANSFERS_MAX} transfers pay it`);
  expect(openApi.paths['/api/v1/payments/{payment_id}/proof']?.['get']?.description).toMatch(
    new RegExp(`more\\s+than ${PROVEN_TRANSFERS_MAX}, pay the payment`),
  );
  const told = [...page('prove-a-payment.md').matchAll(/^- ([^:]+): `([a-z-]+)`$/gm)].map(([, name, id]) => [name, id]);
  expect(told.length).toBeGreaterThan(0);
  expect(told).toEqual(shipped.filter(hasProvenReceipts).map(({ id, name }) => [name, id]));
});

/** The fragments of a page's headings, as GitHub and the gateway generate them. */
function headingsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function enumOf(schema: string, property: string): string[] {
  return below<{ enum: string[] }>('/components/schemas', schema, 'properties', property).node.enum;
}
