import { ReportCheck } from '@quittance/contracts/http/api-gateway/check-report.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { Api } from '../api.ts';
import type { CheckReport } from './report.ts';

/**
 * Has api-gateway keep what a check came to, which shows it as metrics.
 * @param report null where the check could not look at everything.
 * @throws Failure as Api.call().
 */
export async function keepOutcome(api: Api, beganAt: Date, report: CheckReport | null): Promise<void> {
  await api.call(ReportCheck, {
    body: {
      began_at: rfc3339(beganAt),
      ended_at: rfc3339(new Date()),
      whole: report !== null,
      violations: (report?.broken ?? []).map(({ rule, count }) => ({ rule, count })),
    },
  });
}
