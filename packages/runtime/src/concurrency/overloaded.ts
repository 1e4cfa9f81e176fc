/** Too many callers wait already; this one was refused. */
export class Overloaded extends Error {
  constructor(maxWaiting: number) {
    super(`more than ${maxWaiting} calls are waiting`);
    this.name = 'Overloaded';
  }
}
