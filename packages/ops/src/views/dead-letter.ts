import type { DeadLetterAction } from '@quittance/messaging/dead-letter/actions.ts';
import type { DeadLetter } from '@quittance/messaging/dead-letter/message.ts';
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

/** Dead letters that probably have one story. */
export type DeadLetterGroup = {
  queue: string;
  name: string;
  reason: string;
  error: string | null;
  dead: number;
  oldest: string | null;
  newest: string | null;
};

/**
 * The largest group first. Ids and numbers in errors are no difference.
 * @param letters those of each queue oldest first, the ones without a time before all others.
 */
export function summaryOf(letters: readonly DeadLetter[]): DeadLetterGroup[] {
  const groups = new Map<string, DeadLetterGroup>();
  for (const { queue, name, reason, error, first_seen: at } of letters) {
    const key = JSON.stringify([queue, name, reason, error === null ? null : kindOf(error)]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { queue, name, reason, error, dead: 1, oldest: at, newest: at });
    else {
      group.dead += 1;
      group.oldest ??= at;
      group.newest = at ?? group.newest;
    }
  }
  return [...groups.values()].sort((a, b) => b.dead - a.dead);
}

/** @returns the error without what makes each one different. */
const kindOf = (error: string): string => error.replaceAll(/[0-9a-f]{8,}|[0-9a-f-]{36}|\d+/gi, '#');
