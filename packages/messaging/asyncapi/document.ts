import type { MessageDefinition } from '@quittance/contracts/messages.ts';
import { stringify } from 'yaml';
import { type Binding, DEAD_EXCHANGE, EXCHANGE, bindings, deadQueueOf } from '../src/broker/topology.ts';
import { type Description, readDescriptions } from './descriptions.ts';
import { examples } from './examples.ts';

const heading = `# The messages between the services, as AsyncAPI 3.0.
# Written by packages/messaging/asyncapi/write.ts from packages/contracts and packages/messaging/src/broker/topology.ts.
# Change those, not this file; a test fails while it differs from them.
`;

const about = `The messages that the services of Quittance exchange over RabbitMQ.

A message states what has happened, in the past tense. It is written to the sender's outbox in the transaction of the
change it reports, published to the topic exchange \`${EXCHANGE}\` with its name as the routing key, and kept in one
quorum queue \`<service>.<handler>\` for each handler that subscribes to it. It is delivered at least once and takes
effect once: the receiver writes the message id to its inbox in the transaction of the effect. Order is not guaranteed;
where it matters, the payload carries a version.

AMQP properties: \`message_id\` (UUID, the same on every delivery), \`type\` (the message's name), \`correlation_id\` (the
request that caused it, as in X-Request-ID and in the logs), \`timestamp\` (when it was written to the outbox),
\`content_type\` application/json, \`delivery_mode\` 2.

A message that its receiver cannot process goes to \`<service>.<handler>.dead\` through the direct exchange
\`${DEAD_EXCHANGE}\`, with the headers \`reason\`, \`error\`, \`source_queue\`, \`handler\` and \`first_seen\`.

Additive changes keep a message's version: receivers ignore fields they do not know. Any other change makes a new version.`;

/** The whole of docs/asyncapi.yaml. */
export function asyncapiYaml(): string {
  const options = { lineWidth: 120, blockQuote: 'literal', singleQuote: true, aliasDuplicateObjects: false } as const;
  return heading + stringify(asyncapiDocument(), options);
}

/** Senders come from the contracts, receivers from the topology. */
function asyncapiDocument(): object {
  const messages = [...new Map(bindings.map(({ message }) => [message.name, message])).values()];
  const descriptions = readDescriptions();
  return {
    asyncapi: '3.0.0',
    info: { title: 'Quittance messages', version: '1.0.0', description: about, license: { name: 'MIT' } },
    defaultContentType: 'application/json',
    servers: {
      rabbitmq: {
        host: 'rabbitmq:5672',
        protocol: 'amqp',
        protocolVersion: '0.9.1',
        description: 'RabbitMQ 3.10 or newer.',
      },
    },
    channels: {
      ...Object.fromEntries(messages.map((message) => [message.name, exchangeChannel(message)])),
      ...Object.fromEntries(bindings.map((binding) => [binding.queue, queueChannel(binding)])),
    },
    operations: {
      ...Object.fromEntries(
        messages.map((message) => [`${message.published_by}.publishes-${message.name}`, publishing(message)]),
      ),
      ...Object.fromEntries(
        bindings.map((binding) => [`${binding.queue}.consumes-${binding.message.name}`, consuming(binding)]),
      ),
    },
    components: {
      messages: Object.fromEntries(
        messages.map((message) => [message.name, component(message, descriptions[message.name])]),
      ),
    },
  };
}

function exchangeChannel(message: MessageDefinition<unknown>): object {
  return {
    address: message.name,
    description: `Routing key on the exchange ${EXCHANGE}.`,
    messages: { [message.name]: { $ref: `#/components/messages/${message.name}` } },
    bindings: {
      amqp: { is: 'routingKey', exchange: { name: EXCHANGE, type: 'topic', durable: true, autoDelete: false } },
    },
  };
}

function queueChannel({ queue, message }: Binding): object {
  return {
    address: queue,
    description: `Queue bound to the exchange ${EXCHANGE} by ${message.name}. Its dead letters go to ${deadQueueOf(queue)}.`,
    messages: { [message.name]: { $ref: `#/components/messages/${message.name}` } },
    bindings: { amqp: { is: 'queue', queue: { name: queue, durable: true, exclusive: false, autoDelete: false } } },
  };
}

function publishing(message: MessageDefinition<unknown>): object {
  return {
    action: 'send',
    channel: { $ref: `#/channels/${message.name}` },
    messages: [{ $ref: `#/channels/${message.name}/messages/${message.name}` }],
    tags: [{ name: message.published_by }],
    bindings: { amqp: { deliveryMode: 2, mandatory: true } },
  };
}

function consuming({ queue, service, message }: Binding): object {
  return {
    action: 'receive',
    channel: { $ref: `#/channels/${queue}` },
    messages: [{ $ref: `#/channels/${queue}/messages/${message.name}` }],
    tags: [{ name: service }],
    bindings: { amqp: { ack: true } },
  };
}

function component(message: MessageDefinition<unknown>, description: Description | undefined): object {
  const properties = Object.entries(message.schema.properties).map(([field, schema]) => {
    const text = description?.fields[field];
    return [field, text === undefined ? schema : { description: text, ...schema }] as const;
  });
  return {
    name: message.name,
    ...(description?.text ? { description: description.text } : {}),
    contentType: 'application/json',
    headers: {
      type: 'object',
      required: ['version', 'merchant_id'],
      properties: {
        version: { type: 'integer', const: message.version },
        merchant_id: { type: 'string' },
        signature: {
          type: 'string',
          description:
            'In base64url: an Ed25519 signature of the publisher, 64 bytes, and the SHA-256 digests that it covers, 32 bytes each, at most 16. A digest is over name, version, message id and body, with a line break after each of the first three. Unsigned messages are refused.',
        },
        traceparent: { type: 'string', description: 'W3C trace context, where tracing is enabled.' },
      },
    },
    payload: { ...message.schema, properties: Object.fromEntries(properties) },
    examples: [{ payload: examples[message.name as keyof typeof examples] }],
    bindings: { amqp: { messageType: message.name } },
  };
}
