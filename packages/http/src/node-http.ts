/**
 * Node's HTTP module. An ES import of `node:http` evaluates all its exports, including those that load WebSocket, fetch
 * and HTTP/2: 5 MB that no service needs.
 */
export const http = process.getBuiltinModule('node:http');

export const { createServer, STATUS_CODES } = http;
