import { expect, test } from '@jest/globals';
import { SetNotices, type NoticesChoice } from '@quittance/contracts/http/notifier.ts';
import { checkOfSchema } from '@quittance/contracts/schema.ts';
import { problemsOf } from '../src/settings/destinations.ts';

const none: NoticesChoice = { language: 'en', email: [], telegram_chat: null };
const all: Parameters<typeof problemsOf>[1] = { hadSlack: false, available: ['email', 'telegram', 'slack'] };
const fieldsOf = (choice: Partial<NoticesChoice>, where: Partial<typeof all> = {}) =>
  problemsOf({ ...none, ...choice }, { ...all, ...where }).map(({ field }) => field);
const fits = checkOfSchema(SetNotices.body.schema!);

test('each channel alone is enough, and none is not', () => {
  expect(fieldsOf({ email: ['a@shop.example'] })).toEqual([]);
  expect(fieldsOf({ telegram_chat: '-100123' })).toEqual([]);
  expect(fieldsOf({ slack_url: 'https://hooks.slack.com/services/T/B/x' })).toEqual([]);
  expect(fieldsOf({}, { hadSlack: true })).toEqual([]);
  expect(fieldsOf({})).toEqual(['email']);
  expect(fieldsOf({ slack_url: null }, { hadSlack: true })).toEqual(['email']);
});

test.each([
  ...[
    'a',
    'a@b',
    'Anna <a@b.example>',
    'a@b.example,c@d.example',
    'a@b.example\r\nBcc: c@d.example',
    '',
    ' a@b.example',
  ],
  ...['"a b"@c.example', `${'a'.repeat(250)}@b.example`],
])('%p is not one plain e-mail address', (address) => {
  expect(fieldsOf({ email: ['fine@shop.example', address] })).toEqual(['email[1]']);
});

test.each([
  ...[
    'http://hooks.slack.com/x',
    'https://localhost/x',
    'https://127.0.0.1/x',
    'https://10.0.0.1/x',
    'https://[::1]/x',
  ],
  ...[
    'https://169.254.169.254/x',
    'https://hooks.slack.com:8443/x',
    'https://u:p@hooks.slack.com/x',
    'https://db/x',
    'x',
  ],
  ...['https://metadata.internal/x', 'https://hooks.slack.com/x#y', 'https://0x7f.1/x', 'file:///etc/passwd'],
])('%p is not a Slack URL', (slack_url) => {
  expect(fieldsOf({ slack_url })).toContain('slack_url');
});

test('a channel that the operator has not set up is refused', () => {
  const choice = { email: ['a@shop.example'], telegram_chat: '@shop_channel' };
  expect(fieldsOf(choice, { available: ['slack'] })).toEqual(['email', 'telegram_chat']);
});

test.each<[object, boolean]>([
  [{ telegram_chat: '123' }, true],
  [{ telegram_chat: '-1001234567890' }, true],
  [{ telegram_chat: '@shop_channel' }, true],
  [{ telegram_chat: '@a' }, false],
  [{ telegram_chat: '12 3' }, false],
  [{ telegram_chat: '../x' }, false],
  [{ email: Array.from({ length: 5 }, (_, index) => `a${index}@shop.example`) }, true],
  [{ email: Array.from({ length: 6 }, (_, index) => `a${index}@shop.example`) }, false],
  [{ email: ['a@shop.example', 'a@shop.example'] }, false],
  [{ language: 'xx' }, false],
])('the call checks %j', (fields, isValid) => {
  expect(fits({ ...none, ...fields })).toBe(isValid);
});
