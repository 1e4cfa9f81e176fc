import type { SpanAttributes } from '@quittance/runtime/tracing/tracing.ts';

/** By OpenTelemetry's semantic conventions for messaging. */
export function messagingAttributes(
  operation: 'send' | 'process',
  message: { routingKey: string; destination: string; messageId: string; requestId: string },
): SpanAttributes {
  return {
    'messaging.system': 'rabbitmq',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.rabbitmq.destination.routing_key': message.routingKey,
    'messaging.destination.name': message.destination,
    'messaging.message.id': message.messageId,
    'messaging.message.conversation_id': message.requestId,
  };
}
