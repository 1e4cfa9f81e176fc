import { commonSettings } from '@quittance/runtime/service-settings.ts';
import { settings } from '@quittance/runtime/settings.ts';

/** Everything this service can be told from outside, checked once at start. No other file reads the environment. */
export const readConfig = (env: NodeJS.ProcessEnv) => settings(env, commonSettings);
