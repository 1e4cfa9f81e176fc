import { serviceNames } from '@quittance/contracts/service-name.ts';
import { settingsOf } from '../../support/service-settings.ts';

/** The names of the settings that each service gets, including those of its image. */
export type SettingsByService = ReadonlyMap<string, ReadonlySet<string>>;

/** For tests and single machines. The services refuse them in production, so no file for production may have them. */
export const notForProduction = ['FAULT_POINT', 'WEBHOOK_LOCAL_RECEIVER'];

/** Compares the settings that the services get with those that their config.ts reads. @returns the problems, one sentence each. */
export function judgeSettings(given: SettingsByService): string[] {
  return serviceNames.flatMap((service) => {
    const told = given.get(service);
    if (told === undefined) return [`${service}: is missing`];
    const { known, required } = settingsOf(service);
    return [
      ...required.filter((name) => !told.has(name)).map((name) => `${service}: ${name} is required and missing`),
      ...[...told].filter((name) => !known.includes(name)).map((name) => `${service}: ${name} is unknown`),
      ...notForProduction
        .filter((name) => told.has(name))
        .flatMap((name) => (known.includes(name) ? [`${service}: ${name} is not for production`] : [])),
    ];
  });
}
