/** RFC 3339 in UTC with milliseconds, as every time of the API is written. */
export const UTC_TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
