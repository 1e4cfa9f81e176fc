/** Rejected because too many callers are already waiting. */
export class Overloaded extends Error {
  constructor(maxWaiting: number) {
    super(`more than ${maxWaiting} calls are waiting`);
    this.name = 'Overloaded';
  }
}
