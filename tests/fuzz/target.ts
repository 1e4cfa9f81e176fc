/** What is put to a target: a JSON document, so that it can be read, and changed in its structure as well as in its bytes. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export type Verdict = {
  /** What must not happen, and did. */
  problems: string[];
  /** What came of it, in a few words of few kinds: a status, a category. A kind that is new makes the input worth keeping. */
  outcome: string;
};

/** The system, or a part of it, in processes of its own. */
export type Running = {
  /**
   * Puts one input, and settles once everything that it sets going has come to its end.
   * @throws when the system does not answer any more.
   */
  put(input: Json): Promise<Verdict>;
  /** What must hold after all inputs. @returns what does not. */
  check(): Promise<string[]>;
  close(): Promise<void>;
};

export type Target = {
  name: string;
  about: string;
  /** Whether it starts a whole system, which takes a while; else it is a service, or a part of one. */
  isWhole: boolean;
  /** Good inputs, and bad ones that were found, from which all others come; they show what an input consists of. */
  starts: readonly Json[];
  /** Whether a changed input can be put at all. */
  accepts(input: Json): boolean;
  /** @param environment goes to the processes under test. */
  start(environment: Record<string, string>): Promise<Running>;
};

export const isObject = (value: unknown): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Anything may stand where a number should. */
export const wholeNumber = (value: Json | undefined, otherwise: number): number =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : otherwise;

export const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);
