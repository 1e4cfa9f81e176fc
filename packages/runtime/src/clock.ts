/** Where "now" comes from, passed in so that a rule can be tested at any time. Decisions that matter use the database's clock. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
