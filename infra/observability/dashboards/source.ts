import { dashboard } from './panels.ts';
import { api } from './rows/api.ts';
import { chain } from './rows/chain.ts';
import { messaging } from './rows/messaging.ts';
import { overview } from './rows/overview.ts';
import { backends, processes } from './rows/processes.ts';
import { webhooks } from './rows/webhooks.ts';

const network = { name: 'network', label: 'Network', of: 'chain_lag_seconds' };
const service = { name: 'service', label: 'Service', of: 'quittance_build_info' };

/** Every dashboard by its file name. `node infra/observability/dashboards/write.ts` writes the files. */
export const dashboards = {
  'overview.json': dashboard('overview', 'Overview', overview),
  'api.json': dashboard('api', 'API', api),
  'messaging.json': dashboard('messaging', 'Messages', messaging),
  'chain.json': dashboard('chain', 'Chains', chain, [network]),
  'webhooks.json': dashboard('webhooks', 'Webhooks', webhooks),
  'processes.json': dashboard('processes', 'Processes and backends', [...processes, ...backends], [service]),
};

/** The content of a dashboard's file. */
export const textOf = (name: keyof typeof dashboards): string => `${JSON.stringify(dashboards[name], null, 2)}\n`;
