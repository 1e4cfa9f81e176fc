import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { Author } from '@quittance/contracts/author.ts';
import {
  ActivateBeta,
  ExtendBeta,
  MoveToBeta,
  PauseCreation,
  ResumeCreation,
  SetLimits,
} from '@quittance/contracts/http/quota.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { ChangeOutcome } from '../changes.ts';
import { activate, extend, moveToBeta, setLimits, setPaused, type Rule } from '../policy.ts';
import { unknownMerchant } from './policy.ts';

/** Applies a rule in a transaction. */
export type Change = (change: {
  merchantId: string;
  action: string;
  rule: Rule;
  author: Author;
}) => Promise<ChangeOutcome>;

type OperatorRequest = { params: { merchant_id: string }; author: Author };

/** Operators' changes of a policy. Each call declares its answers. */
export function operatorRoutes(change: Change): Route[] {
  const apply = async (action: string, { params, author }: OperatorRequest, rule: Rule): Promise<AccessPolicy> => {
    const result = await change({ merchantId: params.merchant_id, action, rule, author });
    switch (result.outcome) {
      case 'changed':
      case 'unchanged':
        return result.policy;
      case 'refused':
        throw new HttpError(409, result.detail);
      case 'unknown_merchant':
        throw unknownMerchant();
    }
  };
  return [
    callRoute(ActivateBeta, (request) => apply('activate', request, activate())),
    callRoute(PauseCreation, (request) => apply('pause', request, setPaused(true))),
    callRoute(ResumeCreation, (request) => apply('resume', request, setPaused(false))),
    callRoute(ExtendBeta, (request) => apply('extend', request, extend(request.body.days))),
    callRoute(SetLimits, (request) => {
      if (Object.keys(request.body).length > 0) return apply('limits', request, setLimits(request.body));
      throw invalid({ field: 'body', reason: 'must set total_limit, daily_limit or both' });
    }),
    callRoute(MoveToBeta, (request) => apply('move-to-beta', request, moveToBeta(request.body))),
  ];
}
