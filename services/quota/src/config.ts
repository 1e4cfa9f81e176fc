import { commonSettings } from '@quittance/runtime/service-settings.ts';
import { settings } from '@quittance/runtime/settings.ts';

/** All settings of this service, checked once at start. No other file reads the environment. */
export const readConfig = (env: NodeJS.ProcessEnv) => settings(env, commonSettings);
