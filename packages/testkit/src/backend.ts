/** The servers of a test run: one, or all of them together. */
export type Backend = {
  /** For process.env, which jest passes to its workers. */
  environment: Record<string, string>;
  stop(): Promise<void>;
};
