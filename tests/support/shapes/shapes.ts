import { codingShapes } from './coding-shapes.ts';
import { framingShapes } from './framing-shapes.ts';
import { headerShapes } from './header-shapes.ts';
import { targetShapes } from './target-shapes.ts';

/** One request, or bytes that an attacker hopes are read as two, exactly as sent. */
export type Shape = {
  name: string;
  method: string;
  path: string;
  bytes: Buffer;
  /** The allowed statuses. Where edge and gateway differ, each may read the request its own way. */
  statuses: readonly number[];
  /** It never becomes complete, or has no status line by design: the connection may just end. Nothing can follow it. */
  isIncomplete?: boolean;
  /** Only for the edge: behind it, the path exists. */
  isForEdgeOnly?: boolean;
};

/** The parts of shapes. */
export type ShapeParts = {
  /** `X-API-Key: …` with its line break. */
  key: string;
  /** A valid creation as JSON. */
  body: string;
};

/**
 * Requests whose start, headers or end two servers in a row might read differently, and bytes that are hardly HTTP. Several are valid
 * creations if a server reads them wrong.
 */
export const allShapes = (parts: ShapeParts): Shape[] => [
  ...framingShapes(parts),
  ...headerShapes(parts),
  ...targetShapes(parts),
  ...codingShapes(parts),
];

/** A request for /api/v1/payments, or for `firstLine`. Each header ends with the line break that is sent. */
export function shape(
  name: string,
  statuses: readonly number[],
  request: { firstLine: string; headers?: string; rest?: string },
): Shape {
  const { firstLine, headers = '', rest = '' } = request;
  const [method = '', path = ''] = firstLine.split(' ');
  return { name, method, path, statuses, bytes: Buffer.from(`${firstLine}\r\n${headers}\r\n${rest}`, 'latin1') };
}
