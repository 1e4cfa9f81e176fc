import {
  AddOperator,
  DisableOperator,
  ListOperators,
  ReadOperatorAudit,
  type OperatorAccount,
  type OperatorChange,
  SignOutOperator,
  LinkOperator,
  ResetOperatorPasskeys,
} from '@quittance/contracts/http/api-gateway/people.ts';
import { operatorRoles } from '@quittance/contracts/principal.ts';
import { choiceOf, flag, moment, option, PERSON_NAME_MAX, personName, word } from './field.ts';
import { callRow, olderThan, ownRow } from './row.ts';
import { facts, table, text, words, type Value } from './view.ts';

const listed = word('name', personName, 'as operator list shows it');

const ofOperator = (action: string, label: string) => ({
  ...{ path: `/operators/:name/${action}`, label, back: '/operators' },
});

export const linkOperator = ownRow('operator link', LinkOperator.access, {
  audited: true,
  does: 'make an address that signs the operator in to the console once, within half an hour, without the credential; shown once',
  fields: { name: listed },
  page: { ...ofOperator('sign-in-link', 'Make a sign-in link'), isSecret: true },
});

export const operatorRows = [
  callRow('operator add', AddOperator, {
    does: 'give a person an account with a credential that is shown once; bring a disabled one back with a new role and credential, and without the former passkeys',
    more: 'That is also how a role or a credential is changed. A name is never given to somebody else, because audits name people by it.',
    fields: {
      name: {
        ...word('name', personName, 'as audits show it'),
        form: { input: 'text', label: 'Name', max: PERSON_NAME_MAX },
      },
      role: choiceOf(
        '--role <role>',
        operatorRoles,
        'viewer reads, support also helps merchants and customers, admin may do everything',
        { form: { input: 'select', label: 'Role' } },
      ),
    },
    page: { path: '/operators/new', label: 'Add an operator', back: '/operators', isSecret: true },
    view: ({ name, role, credential }) => [facts({ name, role, credential })],
  }),
  callRow('operator list', ListOperators, {
    does: 'list names, roles, and when each credential was last used; those who were disabled last too',
    fields: {},
    view: ({ operators }) => [operatorsTable(operators)],
  }),
  linkOperator,
  callRow('operator sign-out', SignOutOperator, {
    does: 'end every session at the console, and take unused links back; the credential still works',
    fields: { name: listed },
    page: ofOperator('sign-out', 'End the sessions'),
    view: ({ closed }) => [text(`${closed} sessions ended.`)],
  }),
  callRow('operator reset-passkeys', ResetOperatorPasskeys, {
    does: 'remove all passkeys of an operator who has lost the device, and end the sessions',
    more: 'With `ops` on the machine it also helps the last administrator.',
    asks: true,
    fields: { name: listed },
    page: { ...ofOperator('reset-passkeys', 'Remove the passkeys'), isDanger: true },
    question: ({ name }) => `Remove all passkeys of ${name}?`,
    view: ({ removed }) => [text(`${removed} passkeys removed.`)],
  }),
  callRow('operator disable', DisableOperator, {
    does: 'refuse the credential from now on; what was begun with it goes on for five minutes at most',
    asks: true,
    fields: { name: listed },
    page: { ...ofOperator('disable', 'Disable the account'), isDanger: true },
    question: ({ name }) => `Disable ${name}? The credential stops working.`,
    view: (operator) => [
      facts({
        name: operator.name,
        role: operator.role,
        created: operator.created_at,
        'last used': operator.last_used_at,
        disabled: operator.disabled_at,
      }),
    ],
  }),
  callRow('operator audit', ReadOperatorAudit, {
    does: 'show who gave and took accounts, when and why, and who signed in or was refused, from which address; newest first',
    fields: {
      changes: flag('--changes', 'only what was done to accounts'),
      before: option('--before <time>', moment, 'only what was done before this time'),
    },
    given: ({ changes, before }) => ({ query: { before, only: changes ? 'changes' : undefined } }),
    view: ({ entries }) => [operatorAuditTable(entries)],
    next: ({ entries }) => olderThan(entries, ({ at }) => at),
  }),
];

export const operatorsTable = (operators: readonly OperatorAccount[], title: string | null = null) =>
  table(title, operators, {
    name: 'name',
    role: 'role',
    created: 'created_at',
    'last used': 'last_used_at',
    disabled: 'disabled_at',
    actions: ({ name, disabled_at: disabled }) => (disabled !== null ? null : operatorActions({ name })),
  });

const operatorActions = (values: Record<string, string>): Value => [
  { action: 'operator link', label: 'Sign-in link', values },
  ' ',
  { action: 'operator sign-out', label: 'End the sessions', values },
  ' ',
  { action: 'operator reset-passkeys', label: 'Remove the passkeys', values },
  ' ',
  { action: 'operator disable', label: 'Disable', values },
];

export const operatorAuditTable = (entries: readonly OperatorChange[], title: string | null = null) =>
  table(title, entries, {
    when: 'at',
    who: 'actor',
    what: ({ action }) => words(action),
    operator: 'operator',
    role: ({ after }) => (typeof after?.['role'] === 'string' ? after['role'] : null),
    why: 'reason',
  });
