import type { Agent } from 'undici';
import { mayWorkLater, neverWorks, sent, type Send } from './channel.ts';
import { post } from './post.ts';

/** Slack's incoming webhooks, and the servers that take the same, such as Mattermost and Discord's `/slack` URLs. */
export const slackSender =
  ({ agent }: { agent: Agent }): Send =>
  async ({ slack }, { subject, text }) => {
    const answer = await post(agent, slack ?? '', { text: escaped(`${subject}\n\n${text}`) });
    if (answer === null) return mayWorkLater('the Slack URL gave no answer');
    const { status, retryAfterSeconds } = answer;
    if (status >= 200 && status < 300) return sent;
    const passes = status >= 500 || status === 408 || status === 429;
    return passes
      ? mayWorkLater(`the Slack URL answered ${status}`, retryAfterSeconds)
      : neverWorks(`the Slack URL refused the message with ${status}`);
  };

/** Otherwise a customer's text could mention a whole channel. Source: https://docs.slack.dev/messaging/formatting-message-text */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
