/** What a script can tell from the exit code. */
export const exitCodes = {
  /** A service refused, or the person at the terminal did. */
  refused: 1,
  /** An unknown command, a missing setting, an argument that cannot be right. */
  wrongUse: 2,
  /** A service gave no usable answer, or did not get as far as it should in time. */
  unreachable: 3,
} as const;

/** Ends the command with a sentence for a person and an exit code for a script. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: keyof typeof exitCodes;
  constructor(kind: keyof typeof exitCodes, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
