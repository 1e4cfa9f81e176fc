import { createTransport, type SentMessageInfo } from 'nodemailer';
import { mayWorkLater, neverWorks, SEND_TIMEOUT_MS, sent, type Outcome, type Send } from './channel.ts';

const CONNECT_TIMEOUT_MS = SEND_TIMEOUT_MS / 2;

/**
 * Sends plain text to all of a merchant's addresses in one e-mail. It counts as sent when the server has accepted it for at
 * least one of them: otherwise one wrong address would have the others get it again and again.
 * @param smtpUrl as nodemailer reads it: `smtp://` or `smtps://`, with the login. A login is never sent without TLS.
 */
export function emailSender({ smtpUrl, from }: { smtpUrl: string; from: string }): Send {
  const { protocol, username } = new URL(smtpUrl);
  const transport = createTransport({
    url: smtpUrl,
    requireTLS: protocol === 'smtp:' && username !== '',
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SEND_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.split('@')[1] ?? '';
  return async ({ email }, { id, subject, text }) => {
    try {
      const message: SentMessageInfo = await transport.sendMail({
        // As objects, so that no text is parsed for further addresses.
        from: { name: '', address: from },
        to: email.map((address) => ({ name: '', address })),
        ...{ subject, text },
        // Mail programs show a repeated e-mail with the same id once.
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      return (message.accepted ?? []).length > 0 ? sent : neverWorks('the mail server refused every address');
    } catch (error) {
      return outcomeOf(error as { code?: string; responseCode?: number });
    }
  };
}

/** The server's own words may contain an address, so only its code is kept. */
function outcomeOf({ code, responseCode }: { code?: string; responseCode?: number }): Outcome {
  if (responseCode === undefined) return mayWorkLater('the mail server gave no answer');
  // A login or TLS that is refused is the operator's to fix.
  const isAboutMessage = code === 'EENVELOPE' || code === 'EMESSAGE';
  if (isAboutMessage && responseCode >= 500)
    return neverWorks(`the mail server refused the e-mail with ${responseCode}`);
  return mayWorkLater(`the mail server answered ${responseCode}`);
}
