/**
 * One change of a statement, after which it breaks a promise, and the tests that must fail. `before` is in the file exactly once.
 */
export type SqlMutant = { breaks: string; before: string; after: string } & (
  | {
      /** Parts of test names, exactly as in the test file. */
      noticedBy: string | string[];
      /** Instead of the group's file. */
      tests?: string;
    }
  | {
      /** Why nobody can see a difference. */
      changesNothing: string;
    }
);

/** Mutants of one file. */
export type SqlMutants = {
  /** From the root of the repository. */
  file: string;
  /** The test file whose tests fail, unless the mutant names another. */
  tests: string;
  mutants: SqlMutant[];
};

/** @throws when the text is not in the file exactly once: the list is older than the file. */
export function mutated(text: string, { before, after }: SqlMutant): string {
  const parts = text.split(before);
  if (parts.length !== 2) throw new Error(`is ${parts.length - 1} times in the file instead of once: ${before}`);
  return parts.join(after);
}
