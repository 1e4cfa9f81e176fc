import { changedFields, type AuditEntry } from '../audit.ts';
import { table, type Cell, type Columns } from '../text.ts';

/** One line for each field that changed; who, when and why stand on the first line of an entry. */
export function auditView({ entries }: { entries: readonly AuditEntry[] }): string {
  return table(entries.flatMap(linesOf), columns);
}

type Line = { entry: AuditEntry | null; field: string | null; from: unknown; to: unknown };

function linesOf(entry: AuditEntry): Line[] {
  const [first = { field: null, from: null, to: null }, ...others] = changedFields(entry);
  return [{ entry, ...first }, ...others.map((line) => ({ entry: null, ...line }))];
}

const columns: Columns<Line> = {
  when: ({ entry }) => (entry === null ? '' : entry.at),
  who: ({ entry }) => (entry === null ? '' : entry.actor),
  // Some services write their words with a hyphen, some with an underscore.
  what: ({ entry }) => (entry === null ? '' : entry.action.replaceAll(/[_-]/g, ' ')),
  field: ({ field }) => field ?? '',
  before: ({ field, from }) => (field === null ? '' : toCell(from)),
  after: ({ field, to }) => (field === null ? '' : toCell(to)),
  why: ({ entry }) => (entry === null ? '' : entry.reason),
};

const toCell = (value: unknown): Cell => (value === null || typeof value === 'string' ? value : JSON.stringify(value));
