import { migrate } from '@quittance/postgres/migrations/migrate.ts';
import { runForService } from './task.ts';

// `node packages/messaging/src/schema/migrate.ts SERVICE`, before a new version starts. A second one at the same time waits
// and finds nothing left to do.
await runForService(migrate);
