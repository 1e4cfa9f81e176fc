#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { scopeOf, SettingsError } from './scope.ts';
import { createServer } from './server.ts';

/** The one that is published or run, next to the folder of this file. */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

try {
  const access = { baseUrl: required('QUITTANCE_URL'), apiKey: required('QUITTANCE_API_KEY') };
  const server = createServer(access, await scopeOf(access), version);
  await server.connect(new StdioServerTransport());
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  // Clients show what a server writes to its standard error; its standard output is the protocol's.
  process.stderr.write(`quittance-mcp: ${error.message}\n`);
  process.exitCode = 1;
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new SettingsError(`${name} is not set`);
  return value;
}
