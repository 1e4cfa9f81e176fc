/** What a customer sees of the merchant. Null where the merchant has not set it. */
export type Shop = {
  name: string | null;
  /** SHA-256 of the PNG file in hex, by which the page loads it. */
  logo: string | null;
  /** `#rrggbb`, lower case. */
  accentColor: string | null;
  supportUrl: string | null;
  supportEmail: string | null;
  /** Sites that may show the page in a frame. */
  embedOrigins: readonly string[];
};

/** A merchant that has set nothing. */
export const nobody: Shop = {
  name: null,
  logo: null,
  accentColor: null,
  supportUrl: null,
  supportEmail: null,
  embedOrigins: [],
};
