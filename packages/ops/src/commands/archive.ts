import { InvalidArgumentError, type Command } from 'commander';
import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { archivePayments } from '../archive/archive.ts';
import { requireFolder, type Manifest } from '../archive/part.ts';
import { asks, authorOf, changes, type ChangeOptions, type Ops } from '../command.ts';
import { confirm } from '../confirm.ts';
import { printResult } from '../output.ts';
import { table } from '../text.ts';

type ArchiveOptions = ChangeOptions & { before: string; to: string; keep?: boolean };

/** Payments that ended long ago leave the database for files. */
export function archiveCommand(program: Command, { api, config }: Ops): void {
  asks(changes(program.command('archive')))
    .description('write payments that ended before a month into files, and remove them from the database')
    .requiredOption('--before <month>', 'the first month that stays, at least 90 days ago', monthArgument)
    .requiredOption('--to <folder>', 'where the files are, those of earlier runs too')
    .option('--keep', 'write the files and remove nothing')
    .action(async ({ before, to: folder, keep = false, ...options }: ArchiveOptions) => {
      const author = authorOf(options, config);
      await requireFolder(folder);
      if (!keep) {
        await confirm(
          `Payments that ended before ${before.slice(0, 7)} will be in ${folder} only: their merchants and customers no longer see them.`,
          options,
        );
      }
      const parts = await archivePayments({ api, folder, before, author, keep });
      printResult(parts, options, partsView);
    });
}

const partsView = (parts: readonly Manifest[]): string =>
  table(parts, {
    file: 'file',
    payments: 'payments',
    bytes: 'bytes',
    removed: ({ removed }) => removed?.payments ?? 0,
    'changed since, kept': ({ removed }) => removed?.kept ?? null,
  });

/** @returns the first moment of the month, RFC 3339. */
function monthArgument(text: string): string {
  const start = parseRfc3339(`${text}-01T00:00:00Z`);
  if (start !== null) return rfc3339(start);
  throw new InvalidArgumentError('expected a month such as 2026-01.');
}
