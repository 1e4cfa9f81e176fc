import { Args, Mutation, Resolver } from '@nestjs/graphql';
import { Allow, Ctx, Permission, RequestContext } from '@vendure/core';
import { QuittanceService, type StartedPayment } from './service.ts';

@Resolver()
export class QuittanceResolver {
  readonly #service: QuittanceService;

  constructor(service: QuittanceService) {
    this.#service = service;
  }

  @Mutation()
  @Allow(Permission.Owner)
  createQuittancePayment(
    @Ctx() ctx: RequestContext,
    @Args() { returnUrl }: { returnUrl?: string },
  ): Promise<StartedPayment> {
    return this.#service.start(ctx, returnUrl ?? undefined);
  }
}
