import { framingShapes } from './framing-shapes.ts';
import { headerShapes } from './header-shapes.ts';
import { targetShapes } from './target-shapes.ts';

/** One request, or what somebody hopes is taken for two, byte for byte. */
export type Shape = {
  name: string;
  method: string;
  path: string;
  bytes: Buffer;
  /** What it may be answered with. Where the edge and the gateway differ, each of them has a right to its own reading. */
  statuses: readonly number[];
  /** It never becomes complete, or has no status line by design: the connection may just end. Nothing can follow it. */
  isIncomplete?: boolean;
  /** It is about the edge: behind that, the path exists. */
  isForEdgeOnly?: boolean;
};

/** What shapes are made from. */
export type ShapeParts = {
  /** `X-API-Key: …` with its line break. */
  key: string;
  /** A valid creation as JSON. */
  body: string;
};

/**
 * Requests on whose beginning, headers or end two servers in a row might disagree, and what is hardly HTTP at all.
 * Several are valid creations once somebody reads them wrong.
 */
export const allShapes = (parts: ShapeParts): Shape[] => [
  ...framingShapes(parts),
  ...headerShapes(parts),
  ...targetShapes(parts),
];

/** A request for /api/v1/payments, or what `firstLine` says; headers end each with a line break, as they are to be sent. */
export function shape(
  name: string,
  statuses: readonly number[],
  request: { firstLine: string; headers?: string; rest?: string },
): Shape {
  const { firstLine, headers = '', rest = '' } = request;
  const [method = '', path = ''] = firstLine.split(' ');
  return { name, method, path, statuses, bytes: Buffer.from(`${firstLine}\r\n${headers}\r\n${rest}`, 'latin1') };
}
