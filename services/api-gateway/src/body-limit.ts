/** At most this many bytes of a request's body, for every endpoint. Source: the API contract, "Size and list limits". */
export const BODY_MAX_BYTES = 64 * 1024;
