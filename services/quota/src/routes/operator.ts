import type { Author } from '@quittance/contracts/author.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { operatorBody } from '@quittance/http/server/operator-body.ts';
import { route } from '@quittance/http/server/route.ts';
import type { Reply, Route, RouteRequest } from '@quittance/http/server/route.ts';
import type { ChangeOutcome } from '../changes.ts';
import { activate, extend, MAX_BETA_DAYS, moveToBeta, setLimits, setPaused } from '../policy.ts';
import type { BetaConditions, Limits, Rule } from '../policy.ts';
import { merchantId, unknownMerchant } from './policy.ts';

/** Applies a rule in a transaction of its own. */
export type Change = (change: {
  merchantId: string;
  action: string;
  rule: Rule;
  author: Author;
}) => Promise<ChangeOutcome>;

/** Far above any real account, and still within PostgreSQL's integer. */
const MAX_LIMIT = 1_000_000_000;

const days = { type: 'integer', minimum: 1, maximum: MAX_BETA_DAYS };
const limit = { type: 'integer', minimum: 0, maximum: MAX_LIMIT };
/** Null means no daily cap. */
const dailyLimit = { ...limit, type: ['integer', 'null'] };

/**
 * What an operator can do to a policy. Each answers 200 with the policy in force, 404 for an unknown merchant, 409 with the reason
 * when the policy does not allow it, 422 for a wrong body. Asking for what is already so is 200 and makes no new version.
 */
export const operatorRoutes = (change: Change): Route[] => [
  changeRoute(change, 'activate', operatorBody({}), () => activate()),
  changeRoute(change, 'pause', operatorBody({}), () => setPaused(true)),
  changeRoute(change, 'resume', operatorBody({}), () => setPaused(false)),
  changeRoute(change, 'extend', operatorBody<{ days: number }>({ days }, ['days']), (body) => extend(body.days)),
  changeRoute(change, 'limits', operatorBody<Limits>({ total_limit: limit, daily_limit: dailyLimit }), (limits) => {
    if (Object.keys(limits).length > 0) return setLimits(limits);
    throw invalid({ field: 'body', reason: 'must set total_limit, daily_limit or both' });
  }),
  changeRoute(
    change,
    'move-to-beta',
    operatorBody<BetaConditions>({ total_limit: limit, daily_limit: dailyLimit, beta_duration_days: days }),
    moveToBeta,
  ),
];

function changeRoute<F>(
  change: Change,
  action: string,
  read: (request: RouteRequest) => Promise<{ author: Author; fields: F }>,
  ruleOf: (fields: F) => Rule,
): Route {
  return route({
    method: 'POST',
    path: `/internal/v1/merchants/:merchant_id/${action}`,
    handle: async (request) => {
      const { author, fields } = await read(request);
      return replyOf(await change({ merchantId: merchantId(request.params), action, rule: ruleOf(fields), author }));
    },
  });
}

function replyOf(result: ChangeOutcome): Reply {
  switch (result.outcome) {
    case 'changed':
    case 'unchanged':
      return { status: 200, body: result.policy };
    case 'refused':
      throw new HttpError(409, result.detail);
    case 'unknown_merchant':
      throw unknownMerchant();
  }
}
