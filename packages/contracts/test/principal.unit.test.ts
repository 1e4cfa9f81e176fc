import { describe, expect, test } from '@jest/globals';
import { isActorOfOperator } from '../src/operator.ts';
import { actorOf, refusalOf, type Principal } from '../src/principal.ts';

const own = `mer_${'a'.repeat(32)}`;
const anna: Principal = { name: 'anna', role: 'merchant', merchant_id: own };
const olga: Principal = { name: 'olga', role: 'admin' };
const open = { access: 'viewer', forMerchants: true } as const;

describe("a merchant's person", () => {
  test('may make what is open to merchants about the own merchant, and about no other, whether there is one or not', () => {
    expect(refusalOf(anna, open, { merchant_id: own })).toBeNull();
    for (const merchant_id of [`mer_${'b'.repeat(32)}`, own.toUpperCase(), `${own} `, '', undefined])
      expect([merchant_id, refusalOf(anna, open, { merchant_id })]).toEqual([merchant_id, 'foreign']);
  });

  test('may make no other call, whatever it is about and whoever else may', () => {
    for (const access of ['viewer', 'support', 'admin', 'services'] as const)
      expect(refusalOf(anna, { access, forMerchants: false }, { merchant_id: own })).toBe('closed');
    expect(refusalOf(anna, open, {})).toBe('foreign');
  });
});

test('what is open to merchants is no more open to operators for that', () => {
  expect(refusalOf(olga, { access: 'services', forMerchants: true }, { merchant_id: own })).toBe('closed');
  expect(refusalOf(olga, open, { merchant_id: own })).toBeNull();
});

test('an audit tells people of merchants from operators of the same name, and neither can be called by anybody else', () => {
  expect([actorOf({ ...anna, name: 'olga' }), actorOf(olga)]).toEqual(['@merchant/olga', '@olga']);
  expect([actorOf(anna), actorOf(olga)].every(isActorOfOperator)).toBe(true);
});
