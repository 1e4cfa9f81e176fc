import type { Agent } from 'undici';
import { mayWorkLater, neverWorks, sent, type Send } from './channel.ts';
import { post } from './post.ts';

/** The parts of an answer that are read. Source: https://core.telegram.org/bots/api#making-requests */
type Answer = { ok?: unknown; parameters?: { retry_after?: unknown } };

/** @param url the Bot API's own, or a local Bot API server's. */
export function telegramSender({ url, token, agent }: { url: string; token: string; agent: Agent }): Send {
  return async ({ telegram }, { subject, text }) => {
    const answer = await post(agent, `${url}/bot${token}/sendMessage`, {
      chat_id: telegram,
      text: `${subject}\n\n${text}`,
      link_preview_options: { is_disabled: true },
    });
    if (answer === null) return mayWorkLater('Telegram gave no answer');
    const { status } = answer;
    const { ok, parameters } = read(answer.text);
    if (status === 200 && ok === true) return sent;
    // 400: there is no such chat. 403: the bot was blocked, or is no member. Others are the operator's to fix, or pass.
    if (status === 400 || status === 403) return neverWorks(`Telegram refused the chat with ${status}`);
    const retryAfter = parameters?.retry_after;
    return mayWorkLater(`Telegram answered ${status}`, typeof retryAfter === 'number' ? retryAfter : undefined);
  };
}

function read(text: string): Answer {
  try {
    return (JSON.parse(text) ?? {}) as Answer;
  } catch {
    return {};
  }
}
