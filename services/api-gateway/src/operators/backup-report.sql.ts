import type { Queryable } from '@quittance/postgres/pool.ts';

/** When the database was last copied, and when a copy last failed. Null if that never happened. */
type BackupState = { succeeded_at: Date | null; failed_at: Date | null };

/** What infra/docker/backup.sh, or another program that copies the database, has recorded. */
export async function readBackupState(db: Queryable): Promise<BackupState> {
  const { rows } = await db.query<BackupState>('select succeeded_at, failed_at from backup_report');
  return rows[0] ?? { succeeded_at: null, failed_at: null };
}
