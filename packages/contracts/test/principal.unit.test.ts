import { describe, expect, test } from '@jest/globals';
import { isActorOfOperator, actorOf, refusalOf, type Principal } from '../src/principal.ts';

const own = `mer_${'a'.repeat(32)}`;
const anna: Principal = { name: 'anna', role: 'merchant', merchant_id: own, merchant_role: 'viewer' };
const olga: Principal = { name: 'olga', role: 'admin' };
const open = { access: 'viewer', forMerchants: 'viewer' } as const;

describe("a merchant's person", () => {
  test('may make the calls open to merchants about its own merchant, and about no other, existing or not', () => {
    expect(refusalOf(anna, open, { merchant_id: own })).toBeNull();
    for (const merchant_id of [`mer_${'b'.repeat(32)}`, own.toUpperCase(), `${own} `, '', undefined])
      expect([merchant_id, refusalOf(anna, open, { merchant_id })]).toEqual([merchant_id, 'foreign']);
  });

  test('may make no other call', () => {
    for (const access of ['viewer', 'support', 'admin', 'services'] as const)
      expect(refusalOf(anna, { access, forMerchants: null }, { merchant_id: own })).toBe('closed');
    expect(refusalOf(anna, open, {})).toBe('foreign');
  });
});

test('a call open to merchants is not thereby open to more operators', () => {
  expect(refusalOf(olga, { access: 'services', forMerchants: 'viewer' }, { merchant_id: own })).toBe('closed');
  expect(refusalOf(olga, open, { merchant_id: own })).toBeNull();
});

test('an audit log distinguishes people of merchants from operators of the same name, and nobody else can use either name', () => {
  expect([actorOf({ ...anna, name: 'olga' }), actorOf(olga)]).toEqual(['@merchant/olga', '@olga']);
  expect([actorOf(anna), actorOf(olga)].every(isActorOfOperator)).toBe(true);
});
