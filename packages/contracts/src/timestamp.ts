/** JSON Schema of a moment on the wire: RFC 3339 in UTC with milliseconds and `Z`, as `Date.prototype.toISOString` writes it. */
export const timestampSchema = {
  type: 'string',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$',
} as const;
