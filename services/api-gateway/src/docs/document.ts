import { accessSync, constants, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

type Operation = { operationId: string; summary: string; description: string; tags: string[] };

/** The parts of the OpenAPI document that the page reads; the rest is served unchanged. */
export type OpenApiDocument = {
  info: { title: string; summary: string; version: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
};

const documentFile = fileURLToPath(new URL('../../../../docs/openapi.yaml', import.meta.url));

/** @throws Error when docs/openapi.yaml is not there to be read. */
export const requireOpenApi = (): void => accessSync(documentFile, constants.R_OK);

/** Reads the repository's docs/openapi.yaml. @throws Error that names the file when it is missing or damaged. */
export function readOpenApi(file = documentFile): OpenApiDocument {
  try {
    return parse(readFileSync(file, 'utf8')) as OpenApiDocument;
  } catch (error) {
    throw new Error(`The OpenAPI document ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Every operation with its request line. */
export const operationsOf = ({ paths }: OpenApiDocument): (Operation & { name: string })[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, name: `${method.toUpperCase()} ${path}` })),
  );
