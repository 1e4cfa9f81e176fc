import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Agent } from 'undici';
import type { Destinations } from '../src/channels/channel.ts';
import { emailSender } from '../src/channels/email.ts';
import { operatorAgent, post, publicAgent } from '../src/channels/post.ts';
import { slackSender } from '../src/channels/slack.ts';
import { telegramSender } from '../src/channels/telegram.ts';
import { startHttpServer, startMailServer } from './stand-ins.ts';

const TOKEN = '123456:AAbbCCddEEffGGhhIIjjKKllMM';
const message = { id: 'evt_1', subject: 'Paid: 49,90 USDT ☕', text: 'Order: A-7\n<!channel> & more' };
const to: Destinations = { email: ['anna@shop.example', 'ben@shop.example'], telegram: '-100123', slack: null };

let mail: Awaited<ReturnType<typeof startMailServer>>;
let http: Awaited<ReturnType<typeof startHttpServer>>;
const agent: Agent = operatorAgent();
beforeAll(async () => {
  [mail, http] = await Promise.all([startMailServer(), startHttpServer()]);
});
afterAll(async () => {
  await agent.close();
  await Promise.all([mail.close(), http.close()]);
});
beforeEach(() => {
  mail.mails.length = http.posted.length = 0;
  mail.state.refuse = null;
});

describe('e-mail', () => {
  const send = () => emailSender({ smtpUrl: mail.url, from: 'notices@pay.example' })(to, message);

  test('is one plain text to all addresses, with the same id in each attempt', async () => {
    expect(await send()).toEqual({ problem: null });
    expect(await send()).toEqual({ problem: null });
    const [first, second] = mail.mails;
    expect(first).toMatchObject({ from: 'notices@pay.example', to: to.email });
    const headers = first!.raw.split('\r\n\r\n')[0]!;
    expect(headers).toContain('Message-ID: <evt_1@pay.example>');
    expect(headers).toContain('Content-Type: text/plain; charset=utf-8');
    expect(headers).toContain('Auto-Submitted: auto-generated');
    expect(second!.raw).toContain('Message-ID: <evt_1@pay.example>');
  });

  test('has no header that a text could bring along', async () => {
    const hostile = {
      id: 'evt_1',
      subject: 'a\r\nBcc: spy@evil.example',
      text: 'b\r\n.\r\nMAIL FROM:<x@y.example>\r\n',
    };
    const sending = emailSender({ smtpUrl: mail.url, from: 'notices@pay.example' });
    expect(await sending(to, hostile)).toEqual({ problem: null });
    expect(mail.mails).toHaveLength(1);
    expect(mail.mails[0]).toMatchObject({ to: to.email });
    expect(mail.mails[0]!.raw.split('\r\n\r\n')[0]).not.toMatch(/^Bcc/m);
  });

  test('is tried again when the server is busy or away, and not when it refuses', async () => {
    mail.state.refuse = { code: 451 };
    expect(await send()).toMatchObject({ problem: 'the mail server answered 451', isFinal: false });
    mail.state.refuse = { code: 550 };
    expect(await send()).toMatchObject({ problem: 'the mail server refused the e-mail with 550', isFinal: true });
    const away = await startMailServer();
    await away.close();
    const outcome = await emailSender({ smtpUrl: away.url, from: 'notices@pay.example' })(to, message);
    expect(outcome).toMatchObject({ problem: 'the mail server gave no answer', isFinal: false });
  });

  test('counts as sent when one address is refused, so that the others do not get it again', async () => {
    mail.state.refuse = { code: 550, recipient: 'ben@shop.example' };
    expect(await send()).toEqual({ problem: null });
    expect(mail.mails.map((sent) => sent.to)).toEqual([['anna@shop.example']]);
  });

  test('sends no login to a server without TLS', async () => {
    const smtpUrl = mail.url.replace('//', '//user:secret@');
    const outcome = await emailSender({ smtpUrl, from: 'notices@pay.example' })(to, message);
    expect(outcome).toMatchObject({ isFinal: false });
    expect(mail.mails).toEqual([]);
  });
});

describe('Telegram', () => {
  const send = () => telegramSender({ url: http.url, token: TOKEN, agent })(to, message);
  const refuse = (status: number, parameters = {}) => {
    http.state.reply = () => ({ status, body: { ok: false, error_code: status, description: 'no', parameters } });
  };

  test('gets one message, as plain text and without a preview of the link', async () => {
    http.state.reply = () => ({ status: 200, body: { ok: true, result: {} } });
    expect(await send()).toEqual({ problem: null });
    const text = `${message.subject}\n\n${message.text}`;
    const body = { chat_id: '-100123', text, link_preview_options: { is_disabled: true } };
    expect(http.posted).toEqual([{ path: `/bot${TOKEN}/sendMessage`, body }]);
  });

  test('says how long to wait, and that a chat is closed for the bot', async () => {
    refuse(429, { retry_after: 37 });
    expect(await send()).toEqual({ problem: 'Telegram answered 429', isFinal: false, retryAfterSeconds: 37 });
    for (const status of [400, 403]) {
      refuse(status);
      expect(await send()).toMatchObject({ problem: `Telegram refused the chat with ${status}`, isFinal: true });
    }
    for (const status of [401, 500, 502]) {
      refuse(status);
      expect(await send()).toMatchObject({ isFinal: false });
    }
  });

  test('is tried again without an answer, and no problem has the token', async () => {
    const closed = await startHttpServer();
    await closed.close();
    const outcome = await telegramSender({ url: closed.url, token: TOKEN, agent })(to, message);
    expect(outcome).toEqual({ problem: 'Telegram gave no answer', isFinal: false });
    http.state.reply = () => ({ status: 200, body: { ok: true, result: 'x'.repeat(70_000) } });
    expect(await send()).toMatchObject({ problem: 'Telegram gave no answer' });
  });
});

describe('Slack', () => {
  const send = () => slackSender({ agent })({ ...to, slack: `${http.url}/services/T/B/x` }, message);

  test('gets a text in which nothing of a customer is a command', async () => {
    http.state.reply = () => ({ status: 200 });
    expect(await send()).toEqual({ problem: null });
    const text = `${message.subject}\n\nOrder: A-7\n&lt;!channel&gt; &amp; more`;
    expect(http.posted).toEqual([{ path: '/services/T/B/x', body: { text } }]);
  });

  test('is tried again when it is busy, and not when the URL is gone or leads elsewhere', async () => {
    http.state.reply = () => ({ status: 429, headers: { 'retry-after': '30' } });
    expect(await send()).toEqual({ problem: 'the Slack URL answered 429', isFinal: false, retryAfterSeconds: 30 });
    http.state.reply = () => ({ status: 503 });
    expect(await send()).toMatchObject({ isFinal: false });
    for (const status of [302, 403, 404, 410]) {
      http.state.reply = () => ({ status, headers: { location: `${http.url}/other` } });
      expect(await send()).toMatchObject({ isFinal: true });
    }
    expect(http.posted.map(({ path }) => path)).not.toContain('/other');
  });

  test('a name that leads to this machine is not called', async () => {
    const guarded = publicAgent();
    const url = http.url.replace('127.0.0.1', 'localhost');
    expect(await post(agent, url, {})).not.toBeNull();
    http.posted.length = 0;
    expect(await post(guarded, url, {})).toBeNull();
    expect(http.posted).toEqual([]);
    await guarded.close();
  });
});
