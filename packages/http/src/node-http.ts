/**
 * Node's HTTP. An ES module that imports `node:http` evaluates all its exports, also those that load Node's WebSocket, fetch and
 * HTTP/2: 5 MB that no service needs.
 */
export const http = process.getBuiltinModule('node:http');

export const { createServer, STATUS_CODES } = http;
