/**
 * One change of a statement, which makes it do something else than it promises, and the tests that must notice.
 * `before` stands exactly once in the file.
 */
export type SqlMutant = { breaks: string; before: string; after: string } & (
  | {
      /** Words of the names of tests, each found in the test file as they are here. */
      noticedBy: string | string[];
      /** Instead of the group's file. */
      tests?: string;
    }
  | {
      /** Why nothing that anybody can see is different. */
      changesNothing: string;
    }
);

/** Mutants of one file. */
export type SqlMutants = {
  /** From the root of the repository. */
  file: string;
  /** The test file whose tests notice, unless the mutant names another. */
  tests: string;
  mutants: SqlMutant[];
};

/** @throws when the text is not there exactly once: the list is older than the file. */
export function mutated(text: string, { before, after }: SqlMutant): string {
  const parts = text.split(before);
  if (parts.length !== 2) throw new Error(`stands ${parts.length - 1} times in the file instead of once: ${before}`);
  return parts.join(after);
}
