/** What a test run stands on: one server, or all of them together. */
export type Backend = {
  /** For process.env, which jest hands on to its workers. */
  environment: Record<string, string>;
  stop(): Promise<void>;
};
