import { serviceNames } from '@quittance/contracts/service-name.ts';
import { settingsOf } from '../../support/service-settings.ts';

/** The names of the settings that each service is told, those of its image among them. */
export type SettingsByService = ReadonlyMap<string, ReadonlySet<string>>;

/** For tests and single machines; the services refuse them in production, so their place is in no file for it. */
export const notForProduction = ['FAULT_POINT', 'WEBHOOK_LOCAL_RECEIVER'];

/** Holds what the services are told against what their config.ts reads. @returns what is wrong, one sentence each. */
export function judgeSettings(given: SettingsByService): string[] {
  return serviceNames.flatMap((service) => {
    const told = given.get(service);
    if (told === undefined) return [`${service}: is missing`];
    const { known, required } = settingsOf(service);
    return [
      ...required.filter((name) => !told.has(name)).map((name) => `${service}: ${name} is required and missing`),
      ...[...told].filter((name) => !known.includes(name)).map((name) => `${service}: ${name} is known to nobody`),
      ...notForProduction
        .filter((name) => told.has(name))
        .flatMap((name) => (known.includes(name) ? [`${service}: ${name} is not for production`] : [])),
    ];
  });
}
