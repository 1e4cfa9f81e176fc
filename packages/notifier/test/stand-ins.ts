import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** An e-mail as the server got it: its envelope, and its raw text. */
type Mail = { from: string; to: string[]; raw: string };

/** A real SMTP server. `refuse` is the answer to each e-mail, while it is set. */
export async function startMailServer(port = 0, host = '127.0.0.1') {
  const mails: Mail[] = [];
  const state: { refuse: { code: number; recipient?: string } | null } = { refuse: null };
  const refusal = (code: number) => Object.assign(new Error('not now'), { responseCode: code });
  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'], logger: false },
    onRcptTo: ({ address }, _session, done) => {
      const { refuse } = state;
      done(refuse?.recipient === address ? refusal(refuse.code) : null);
    },
    onData: (stream, { envelope }, done) => {
      void text(stream).then((raw) => {
        if (state.refuse !== null && state.refuse.recipient === undefined) {
          done(refusal(state.refuse.code));
          return;
        }
        const { mailFrom, rcptTo } = envelope;
        mails.push({ from: mailFrom === false ? '' : mailFrom.address, to: rcptTo.map(({ address }) => address), raw });
        done();
      });
    },
  });
  server.listen(port, host);
  await once(server.server, 'listening');
  const { port: own } = server.server.address() as AddressInfo;
  return {
    mails,
    state,
    port: own,
    url: `smtp://127.0.0.1:${own}`,
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}

type Posted = { path: string; body: Record<string, unknown> };
type Reply = { status: number; body?: object; headers?: Record<string, string> };

/**
 * Takes JSON by POST, as Telegram's Bot API and Slack's incoming webhooks do, and answers what a test wants: by default as
 * Telegram answers a message that it has sent. `null` answers nothing.
 * Source of the answers: https://core.telegram.org/bots/api#making-requests
 */
export async function startHttpServer() {
  const posted: Posted[] = [];
  const state: { reply: (request: Posted) => Reply | null } = {
    reply: () => ({ status: 200, body: { ok: true, result: { message_id: 1 } } }),
  };
  const server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      const given = { path: request.url ?? '', body: JSON.parse(body) as Record<string, unknown> };
      posted.push(given);
      const reply = state.reply(given);
      if (reply === null) return;
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
      response.end(JSON.stringify(reply.body ?? {}));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    posted,
    state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
