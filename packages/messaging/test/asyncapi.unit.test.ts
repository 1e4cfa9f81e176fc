import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import * as messages from '@quittance/contracts/messages.ts';
import { parse } from 'yaml';
import { asyncapiYaml } from '../asyncapi/document.ts';
import { bindings } from '../src/broker/topology.ts';

type Operation = { action: 'send' | 'receive'; tags: { name: string }[]; messages: { $ref: string }[] };
type Component = { payload: { properties: Record<string, object> }; examples: { payload: unknown }[] };
type Document = { operations: Record<string, Operation>; components: { messages: Record<string, Component> } };

const file = readFileSync(new URL('../../../docs/asyncapi.yaml', import.meta.url), 'utf8');
const document = parse(file) as Document;
const contracts = Object.values(messages).filter(
  (exported) => typeof exported === 'object' && 'published_by' in exported,
);

test('docs/asyncapi.yaml is what packages/messaging/asyncapi/write.ts writes', () => {
  expect(file).toBe(asyncapiYaml());
});

test('the document has exactly the messages of the contracts', () => {
  expect(Object.keys(document.components.messages).sort()).toEqual(contracts.map(({ name }) => name).sort());
});

describe.each(contracts.map((message) => [message.name, message] as const))('%s', (name, message) => {
  const component = document.components.messages[name]!;

  test('has the schema of the contracts', () => {
    const { properties, ...rest } = component.payload;
    const undescribed = Object.entries(properties).map(([field, schema]) => {
      const plain = Object.entries(schema).filter(([keyword]) => keyword !== 'description');
      return [field, Object.fromEntries(plain)];
    });
    expect({ ...rest, properties: Object.fromEntries(undescribed) }).toEqual(message.schema);
  });

  test('has an example that fits', () => {
    expect(component.examples).toHaveLength(1);
    expect(message.parse(component.examples[0]?.payload)).toBeTruthy();
  });

  test('is sent by its publisher and received by each of its subscribers', () => {
    const sent = [{ action: 'send', service: message.published_by }];
    const received = bindings
      .filter((row) => row.message === message)
      .map((row) => ({ action: 'receive', service: row.service }));
    expect(received).not.toEqual([]);
    const operations = Object.values(document.operations).filter((operation) =>
      operation.messages[0]?.$ref.endsWith(`/${name}`),
    );
    expect(operations.map(({ action, tags }) => ({ action, service: tags[0]?.name }))).toEqual([...sent, ...received]);
  });
});
