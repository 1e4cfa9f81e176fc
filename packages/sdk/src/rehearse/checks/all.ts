import type { Check } from '../check.ts';
import { large, rawBody, text, unknownFields } from './bodies.ts';
import { copies, effect, genuine, repeated, several } from './genuine.ts';
import { doubledHeaders, eventId, method, refusals, stranger } from './headers.ts';
import { amount, oneOrder, order, otherEffects, otherKinds, rotation } from './kinds.ts';
import { speed, timestamp, timestampForm, tolerance } from './time.ts';
import { signature, unknownKey, wholeSignature } from './trust.ts';

/** In the order in which they run and are shown: `genuine` first, those that evaluate earlier checks last. */
export const checks: readonly Check[] = [
  genuine,
  effect,
  repeated,
  copies,
  oneOrder,
  several,
  rawBody,
  text,
  large,
  unknownFields,
  tolerance,
  rotation,
  signature,
  wholeSignature,
  unknownKey,
  timestamp,
  timestampForm,
  eventId,
  doubledHeaders,
  stranger,
  method,
  otherKinds,
  otherEffects,
  order,
  amount,
  refusals,
  speed,
];
