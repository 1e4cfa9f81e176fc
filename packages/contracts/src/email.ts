/** As browsers check addresses (https://html.spec.whatwg.org/#valid-e-mail-address), with a name of two parts behind the @. */
const email =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const EMAIL_MAX = 254;

/** @returns what is wrong with the text as one plain e-mail address; null if nothing is. */
export const emailProblem = (address: string): string | null =>
  address.length <= EMAIL_MAX && email.test(address) ? null : 'must be one e-mail address, without a name';
