/** RFC 3339 in UTC with milliseconds, the format of every time in the API. */
export const UTC_TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
