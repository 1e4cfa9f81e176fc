import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { OperatorChange } from '@quittance/contracts/http/api-gateway/operators.ts';
import { link, table, time } from './parts.ts';

/** As many as a page of the audit has. */
const PAGE = 100;

/** @param only `changes` where sign-ins are left out. */
export const operatorAuditTable = (entries: readonly OperatorChange[], only: 'changes' | undefined): Html => {
  const last = entries.length === PAGE ? entries.at(-1) : undefined;
  const address = (query: Record<string, string>) => `/operators?${new URLSearchParams(query).toString()}`;
  return html`<p>
      ${only === undefined ? link(address({ only: 'changes' }), 'Only changes of accounts') : link('/operators', 'With sign-ins')}
    </p>
    ${table('Audit', entries, {
      When: ({ at }) => time(at),
      Who: ({ actor }) => actor,
      What: ({ action }) => action.replaceAll('_', ' '),
      Operator: ({ operator }) => operator,
      Role: ({ after }) => (typeof after?.['role'] === 'string' ? after['role'] : null),
      Why: ({ reason }) => reason,
    })}
    ${last === undefined ? [] : html`<p>${link(address({ before: last.at, ...(only && { only }) }), 'Older')}</p>`}`;
};
