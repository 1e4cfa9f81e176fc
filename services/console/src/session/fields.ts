import { invalid } from '@quittance/http/errors.ts';

/** A whole number that must be there. @throws HttpError 422 naming the field. */
export function numberIn(form: URLSearchParams, field: string): number {
  const number = optionalNumberIn(form, field);
  if (number === null) throw invalid({ field, reason: 'must be given' });
  return number;
}

/** The same where nothing may be given. The service says which numbers it takes. @returns null for an empty field. */
export function optionalNumberIn(form: URLSearchParams, field: string): number | null {
  const text = (form.get(field) ?? '').trim();
  if (text === '') return null;
  if (!/^\d{1,10}$/.test(text)) throw invalid({ field, reason: 'must be a whole number, 0 or more' });
  return Number(text);
}
