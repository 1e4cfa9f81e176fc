/** Prints a command's result to stdout: JSON for machines, exactly as the services gave it, else the view for people. */
export function printResult<T>(value: T, { json = false }: { json?: boolean }, view: (value: T) => string): void {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : view(value)}\n`);
}

/** Says something beside the result, to a person: stdout keeps the result alone, and a program has it in the result. */
export function note(text: string, { json = false }: { json?: boolean }): void {
  if (!json) process.stderr.write(`${text}\n`);
}

/** A page of every list. One that is this long may not be the last. */
export const PAGE = 100;

/** Says how to go on after a full page. @param command what asks for the next page, given the last row of this one. */
export function noteOlder<T>(page: readonly T[], options: { json?: boolean }, command: (last: T) => string): void {
  const last = page.at(PAGE - 1);
  if (last !== undefined) note(`There may be older ones: ${command(last)}`, options);
}
