import { settingPrefix, type ServiceName } from '@quittance/contracts/service-name.ts';
import { shareProcess } from '@quittance/runtime/process.ts';

/** Must be loaded before the services, because a service starts when it is loaded. */
shareProcess({
  name: 'quittance',
  environmentOf: (service) => withOwnSettings(process.env, settingPrefix(service as ServiceName)),
});

/** The shared environment, in which `PAYMENTS_PORT` is the setting that payments reads as `PORT`. */
function withOwnSettings(environment: NodeJS.ProcessEnv, prefix: string): NodeJS.ProcessEnv {
  const own = Object.entries(environment).filter(([name]) => name.startsWith(prefix));
  return { ...environment, ...Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value])) };
}
