import { expect, test } from '@jest/globals';
import { authorOf } from '../src/person.ts';
import type { Config } from '../src/config.ts';

const asked = (actor: string | undefined, config: Partial<Config>) => () =>
  authorOf({ ...(actor !== undefined && { actor }), reason: 'why' }, {
    user: '',
    operatorCredential: '',
    ...config,
  } as Config);

test('the author is who --actor names, or who runs the command', () => {
  expect(asked('ada', { user: 'root' })()).toEqual({ actor: 'ada', reason: 'why' });
  expect(asked(undefined, { user: 'root' })()).toEqual({ actor: 'root', reason: 'why' });
  expect(asked(undefined, { operatorCredential: 'opc_x' })()).toEqual({ actor: 'operator', reason: 'why' });
});

test('the author is nobody who looks like a person who signed in, also where no service would refuse it', () => {
  for (const name of ['@olga', '＠olga', '\u200b@olga']) {
    expect(asked(name, {})).toThrow('must not look like @name');
    expect(asked(undefined, { user: name })).toThrow('must not look like @name');
    expect(asked(undefined, { user: name, operatorCredential: 'opc_x' })).toThrow('must not look like @name');
  }
});
