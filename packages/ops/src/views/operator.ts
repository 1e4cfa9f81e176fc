import type { NewOperator, OperatorAccount, OperatorChange } from '@quittance/contracts/http/api-gateway/operators.ts';
import type { Operator } from '@quittance/contracts/operator.ts';
import { record, table } from '../text.ts';

export const newOperatorView = ({ name, role, credential }: NewOperator): string => record({ name, role, credential });

export const operatorLinkView = (link: Operator & { address: string; ends_at: string }): string =>
  record({ name: link.name, role: link.role, address: link.address, 'works until': link.ends_at });

export const operatorView = (operator: OperatorAccount): string =>
  record({
    name: operator.name,
    role: operator.role,
    created: operator.created_at,
    'last used': operator.last_used_at,
    disabled: operator.disabled_at,
  });

export const operatorsView = ({ operators }: { operators: readonly OperatorAccount[] }): string =>
  table(operators, {
    name: 'name',
    role: 'role',
    created: 'created_at',
    'last used': 'last_used_at',
    disabled: 'disabled_at',
  });

export const operatorAuditView = ({ entries }: { entries: readonly OperatorChange[] }): string =>
  table(entries, {
    when: 'at',
    who: 'actor',
    what: 'action',
    operator: 'operator',
    role: ({ after }) => (typeof after?.['role'] === 'string' ? after['role'] : null),
    why: 'reason',
  });
