/**
 * Node's HTTP server. An ES module that imports `node:http` by name evaluates all its exports, also those that load Node's WebSocket,
 * fetch and HTTP/2: 5 MB that a service without HTTP clients does not need.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
