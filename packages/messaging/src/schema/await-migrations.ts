import { awaitMigrations } from '@quittance/postgres/migrations/await-migrations.ts';
import { runForService } from './task.ts';

// `node packages/messaging/src/schema/await-migrations.ts SERVICE`, where a new version starts beside an old one: ends once
// another process has run this version's migrate.ts.
await runForService(awaitMigrations);
