import type { CallToolResult } from '@modelcontextprotocol/server';
import { QuittanceError } from '@quittance/sdk';

/** Fields of the API whose text a customer or a shop wrote. */
const UNTRUSTED = new Set(['description', 'order_id', 'metadata', 'return_url']);

/** The answer of a tool: the API's, with the texts of others marked, or its error in words. */
export async function answer(ask: () => Promise<object>): Promise<CallToolResult> {
  try {
    const value = marked(await ask()) as Record<string, unknown>;
    return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
  } catch (error) {
    if (!(error instanceof QuittanceError)) throw error;
    const { code, message, retryAfterMs, invalidFields } = error;
    const fields = invalidFields.map(({ field, reason }) => `${field} ${reason}`);
    const wait = retryAfterMs === null ? [] : [`Ask again in ${Math.ceil(retryAfterMs / 1000)} seconds`];
    const text = [`${message} (${code})`, ...fields, ...wait].join('. ');
    return { content: [{ type: 'text', text }], isError: true };
  }
}

/** Puts each such field into `{untrusted_text}`, at any depth. */
export function marked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(marked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const isMarked = UNTRUSTED.has(name) && field !== null;
      return [name, isMarked ? { untrusted_text: field as unknown } : marked(field)];
    }),
  );
}
