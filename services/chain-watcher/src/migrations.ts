import { serviceSchema } from '@quittance/messaging/schema/service-schema.ts';

export const { schema, migrations } = serviceSchema('chain-watcher');
