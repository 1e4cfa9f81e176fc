import { awaitMigrations } from '@quittance/postgres/migrations/await-migrations.ts';
import { runForService } from './task.ts';

// `node packages/messaging/src/schema/await-migrations.ts SERVICE`, when a new version starts next to an old one: ends once another process
// has run this version's migrate.ts.
await runForService(awaitMigrations);
