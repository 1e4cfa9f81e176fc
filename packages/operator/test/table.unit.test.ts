import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { declaredCalls } from '../../contracts/test/declared-calls.ts';
import { operatorPage } from '../docs/document.ts';
import { questionOf, sentence, type Services } from '../src/row.ts';
import { groups, rows } from '../src/table.ts';

const read = (page: string): string => readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');

test("the operators' page is what the table makes of it: npm run operator-docs", () => {
  expect(read('operator.md')).toBe(operatorPage());
});

test('each command is one row of the group that it begins with', () => {
  const commands = rows.map(({ command }) => command);
  expect(new Set(commands).size).toBe(commands.length);
  for (const { name, rows: own } of groups)
    for (const { command } of own) expect(command.split(' ').slice(0, -1).join(' ')).toBe(name);
});

test('the page of tasks names commands that exist, and no others', () => {
  const commands = rows.map(({ command, alias }) => [command, alias ?? '']).flat();
  const named = [...read('operator-tasks.md').matchAll(/(?:`|\$ )ops ([a-z-]+(?: [a-z-]+){0,2})/g)].map(
    ([, words = '']) => words,
  );
  expect(named.length).toBeGreaterThan(40);
  const exists = (words: string) => commands.some((command) => words === command || words.startsWith(`${command} `));
  expect(named.filter((words) => !exists(words))).toEqual([]);
});

test('a question names what it is about, or says what the command does', async () => {
  const services = { call: () => Promise.resolve({ name: 'Shop' }) } as unknown as Services;
  const ofMerchants = rows.filter(({ page, fields }) => page !== undefined && Object.hasOwn(fields, 'merchant_id'));
  for (const row of ofMerchants.filter(({ question }) => question === undefined)) {
    const question = await questionOf(row, { merchant_id: 'mer_1', name: 'web' }, services);
    const asked = typeof question === 'function' ? await question() : question;
    expect(asked).toBe(`"Shop" (mer_1): ${sentence(row.does)} ${row.more ?? ''}`.trim());
  }
});

test('the parameters of a page are fields of its row, and lead back to a page', () => {
  for (const { command, page, fields } of rows) {
    const names = [...(page?.path ?? '').matchAll(/:(\w+)/g)].map(([, name = '']) => name);
    expect([command, names.filter((name) => !Object.hasOwn(fields, name) && name !== 'about')]).toEqual([command, []]);
  }
});

test('a row whose call an audit has says so, and no row opens more than its call', () => {
  const accesses = new Set(declaredCalls.map((call) => call.access));
  for (const { command, role } of rows) expect([command, role === null || accesses.has(role)]).toEqual([command, true]);
});
