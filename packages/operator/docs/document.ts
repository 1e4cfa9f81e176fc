import { operatorRoles } from '@quittance/contracts/principal.ts';
import { typedHelp, type Field } from '../src/field.ts';
import { incidentKinds } from '../src/incidents.ts';
import { reasonMeanings } from '../src/transfers.ts';
import { sentence, type Row } from '../src/row.ts';
import { groups } from '../src/table.ts';

/** docs/operator.md: every command, from the table that the command line and the console are made of. */
export const operatorPage = (): string =>
  [
    intro,
    ...groups.map(({ title, does, rows }) => {
      const explained = new Set<string>();
      const lines = rows.map((row) => cellsOf(row, explained));
      return `## ${title}\n\n${sentence(does)}\n\n${table(head, lines)}${extras[title] ?? ''}`;
    }),
  ].join('\n\n') + '\n';

const head = ['Command', 'Description', 'Role', 'In the console'];

/** @param explained options of the same section, each of which is explained once. */
const cellsOf = (row: Row, explained: Set<string>): string[] => [
  `\`ops ${[row.command, ...Object.values(row.fields).map(usageOf)].join(' ')}\``,
  [
    sentence(row.does),
    row.more ?? '',
    ...Object.values(row.fields).map((field) => optionText(field, explained)),
    asksText(row),
  ]
    .filter(Boolean)
    .join(' '),
  row.role ?? '–',
  row.page === undefined ? '' : row.page.label,
];

/** As one types it: what may be left out is in brackets. */
function usageOf({ flags, required }: Field<unknown>): string {
  if (!flags.startsWith('-')) return flags.replaceAll(/[<>]/g, '').toUpperCase();
  return required ? flags : `[${flags}]`;
}

function optionText(field: Field<unknown>, explained: Set<string>): string {
  const { flags, byDefault, choices } = field;
  const help = typedHelp(field);
  // How to go on is said once, above; `--csv` needs no words.
  if (!flags.startsWith('-') || /^--(before|after|cursor|csv) ?/.test(flags) || explained.has(flags + help)) return '';
  explained.add(flags + help);
  const values = choices === undefined ? '' : ` (${choices.join(', ')})`;
  return `\`${flags.split(' ')[0]}\`: ${help}${values}${byDefault === undefined ? '' : `, \`${byDefault}\` by default`}.`;
}

const asksText = ({ asks, waitSeconds }: Row): string =>
  `${waitSeconds === undefined ? '' : `Waits ${waitSeconds} s. `}${asks === true ? 'Asks first.' : ''}`.trim();

const table = (labels: readonly string[], rows: readonly (readonly string[])[]): string =>
  [labels, labels.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

/** What a section has besides its commands. */
const extras: Record<string, string> = {
  Transfers: `\n\n### Unmatched transfers\n\nOnly a transfer of exactly the amount, to the wallet, while the payment waits pays it. Every other one is unmatched: its merchant or an operator decides about it. On a shared wallet the chain does not say which customer sent a transfer, so each has a list of the payments that it **may be for**, at most 20. Lists and pages name one payment only when it is the only one. A merchant sees only its own payments, and \`candidates_elsewhere\` when another merchant has one; then only an operator can accept it.\n\n${table(
    ['Reason', 'What happened, and what to do'],
    Object.entries(reasonMeanings).map(([reason, text]) => [`\`${reason}\``, text]),
  )}\n\n\`paid_another\` is only in a merchant's details of a payment. A transfer is also \`ambiguous\` right after one of the payments ended, and on a chain whose clock is behind.`,
  Incidents: `\n\nWhile one is open, its cause opens no second one: \`times\` counts the occurrences.\n\n${table(
    ['Kind', 'Meaning'],
    Object.entries(incidentKinds).map(([kind, text]) => [`\`${kind}\``, sentence(text)]),
  )}`,
};

const intro = `# For operators

Every command of \`ops\`, the operator's command line, with who may run it and where the console has the same. How to do common tasks is in [tasks of operators](operator-tasks.md). This page is generated from \`packages/operator\`: change it there, then run \`npm run operator-docs\`.

| Where | How to call it |
| --- | --- |
| a checkout with a running stack | \`npm run ops -- merchant list\`; it finds the stack by itself |
| anywhere else | \`node packages/ops/src/main.ts merchant list\`, or \`ops merchant list\` in an image |

Its [settings](settings.md#the-operators-command-line) come from the environment. \`ops --help\`, \`ops merchant --help\` and \`ops merchant create --help\` show the same as this page.

## What holds for every command

- Times are UTC: a day is \`2026-01-31\`, a time \`2026-01-31T12:00:00Z\`. \`--json\` prints what a program needs: every field under its own name, exact times, nothing else on stdout, and no question. Hints, such as how to get the next page, go to stderr.
- A command that stops a merchant's business, or that you cannot undo, asks first. Without a terminal it needs \`--yes\` or \`--json\`.
- A command that changes something takes \`--reason\`, which the audit keeps with your name. \`@olga\` is the operator who signed in as olga. A name without the mark is what a holder of the key of \`ops\` called itself, with \`--actor\` or as the user who ran it; an actor that looks like \`@name\` is refused, also with another form of \`@\` or something invisible before it. The audit of a merchant is in \`ops merchant audit\`, of a wallet in \`ops wallet show\`, of an accepted transfer, a cancellation and an incident in \`ops payment show\`, of a network in \`ops chain audit\`, of dead letters in \`ops dead-letter audit\`.
- **A restriction** (\`pause\`, \`block\`, \`set-limits\`, \`move-to-beta\`) ends only when payments enforces it. Once the command has ended with 0, no replica creates a payment against it. If that takes longer than the seconds in the table, or of \`--wait\`, the exit code is 3 and the change is saved: repeat the command to wait again.
- **A permission** (\`activate\`, \`extend\`, \`resume\`, \`unblock\`) holds for the next creation: payments asks quota before it refuses.
- A list shows a hundred rows. After a full page the command tells you how to get the next one.

| Exit code | Meaning |
| --- | --- |
| 0 | done |
| 1 | a service refused, with its reason; or you declined at the terminal |
| 2 | wrong use: an unknown command, an argument that cannot be right, a missing setting |
| 3 | a service did not answer, or a change has not taken effect in time |

If the answer to a change got lost, the exit code is 3 and the message says so: check before you repeat it. Repeating is harmless for all but \`merchant create\`, \`merchant replace-credentials\` and \`merchant extend\`.

Roles: ${operatorRoles.map((role) => `\`${role}\``).join(', ')}; each may do what those before it may ([accounts of operators](operator-tasks.md#operators)). A command without a role asks no service who you are: it needs \`AMQP_URL\`, or nothing.`;
