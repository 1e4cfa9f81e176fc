/** One node of a network. Its URLs and headers may hold keys: they are never logged nor shown. */
export type RpcNode = {
  url: string;
  /** By lowercase name. */
  headers: Record<string, string>;
  wsUrl: string | null;
  requestsPerSecond: number | null;
};

/** The part of a network that talking to its nodes needs. */
export type RpcNetwork = {
  id: string;
  chain_id: number;
  /** Best first, in the order of `rpc_urls`. */
  endpoints: RpcNode[];
};
