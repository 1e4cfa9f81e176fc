import type { DeadLetterAction } from '@quittance/messaging/dead-letter/actions.ts';
import type { DeadLetter } from '@quittance/messaging/dead-letter/message.ts';
import type { DeadLetterGroup } from '../dead-letter-summary.ts';
import { oneLine, record, sections, shortened, table } from '../text.ts';

/** In a table the body would push everything else off the screen; the view of one has it. */
export const deadLettersView = ({ dead_letters }: { dead_letters: readonly DeadLetter[] }): string =>
  table(dead_letters, {
    queue: 'queue',
    message: 'message_id',
    'dead since': 'first_seen',
    reason: 'reason',
    error: (letter) => letter.error && shortened(letter.error, 80),
  });

export const deadLetterView = (letter: DeadLetter): string =>
  [
    record({
      message: letter.message_id,
      name: letter.version === null ? letter.name : `${letter.name}, version ${letter.version}`,
      queue: letter.queue,
      'dead since': letter.first_seen,
      reason: letter.reason,
      error: letter.error,
      request: letter.request_id,
    }),
    sections([['body', bodyText(letter.body)]]),
  ].join('\n\n');

export const summaryView = ({ groups }: { groups: readonly DeadLetterGroup[] }): string =>
  table(groups, {
    queue: 'queue',
    name: 'name',
    dead: 'dead',
    oldest: 'oldest',
    newest: 'newest',
    reason: 'reason',
    'error, of one': (group) => group.error && shortened(group.error, 80),
  });

export const deadLetterActionsView = ({ actions }: { actions: readonly DeadLetterAction[] }): string =>
  table(actions, {
    when: 'at',
    who: 'actor',
    what: 'action',
    queue: ({ letter }) => letter.queue,
    message: ({ letter }) => letter.message_id,
    why: 'reason',
  });

export const doneView = (what: string, done: number, left: number): string =>
  record({ [what]: String(done), 'still dead': String(left) });

/** Indented when it is JSON. It may be anything, so each line is made harmless by itself. */
function bodyText(body: string): string {
  let text = body;
  try {
    text = JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    // Not being JSON may be why it is here.
  }
  return text.split('\n').map(oneLine).join('\n');
}
