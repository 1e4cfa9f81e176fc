import { settingPrefix, type ServiceName } from '@quittance/contracts/service-name.ts';
import { shareProcess } from '@quittance/runtime/process.ts';

/** Loaded before the services, which start as they are loaded. */
shareProcess({
  name: 'quittance',
  environmentOf: (service) => withOwnSettings(process.env, settingPrefix(service as ServiceName)),
});

/** The environment of all, in which `PAYMENTS_PORT` is what payments knows as `PORT`. */
function withOwnSettings(environment: NodeJS.ProcessEnv, prefix: string): NodeJS.ProcessEnv {
  const own = Object.entries(environment).filter(([name]) => name.startsWith(prefix));
  return { ...environment, ...Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value])) };
}
