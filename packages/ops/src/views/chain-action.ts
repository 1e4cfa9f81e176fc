import type { OperatorAction } from '@quittance/contracts/http/chain-watcher/operator-actions.ts';
import { table, type Cell } from '../text.ts';

export const actionsView = ({ actions }: { actions: readonly OperatorAction[] }): string =>
  table(actions, {
    when: 'at',
    who: 'actor',
    network: 'network',
    what: ({ action }) => action.replaceAll('_', ' '),
    details: ({ detail }) => detailsText(detail),
    why: 'reason',
  });

/** What a person reads first comes first; ids of rescans are for programs. */
const shown = ['kind', 'outcome', 'ancestor_number', 'from_block', 'to_block', 'state', 'found', 'incident_id'];

const detailsText = (detail: Record<string, unknown>): Cell =>
  shown
    .filter((name) => (detail[name] ?? null) !== null)
    .map((name) => `${name.replaceAll('_', ' ')} ${String(detail[name]).replaceAll('_', ' ')}`)
    .join(', ') || null;
