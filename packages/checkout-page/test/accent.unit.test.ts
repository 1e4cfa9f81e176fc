import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { accentStylesheet } from '../src/accent.ts';

const [light, dark] = [0, 1] as const;

/** The value of a variable, in the light and in the dark. */
function variable(stylesheet: string, name: string): [string, string] {
  const [, first = '', , second = ''] = stylesheet.split(new RegExp(`--${name}:(#[0-9a-f]{6})`));
  return [first, second];
}

/** By the formula of WCAG 2.2. */
function contrast(one: string, other: string): number {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const card = (mode: 0 | 1) => {
  const css = readFileSync(new URL('../src/assets/checkout.css', import.meta.url), 'utf8');
  const value = [...css.matchAll(/--card: (#[0-9a-f]+);/g)][mode]?.[1] ?? '';
  return value.length === 4 ? value.replace(/[0-9a-f]/g, '$&$&') : value;
};

test('text in any color can be read, on the card, on its soft ground and on a button, in the light and in the dark', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffff }), (value) => {
      const sheet = accentStylesheet(`#${value.toString(16).padStart(6, '0')}`);
      for (const mode of [light, dark]) {
        const accent = variable(sheet, 'accent')[mode];
        const grounds = [card(mode), variable(sheet, 'accent-soft')[mode], variable(sheet, 'on-accent')[mode]];
        for (const ground of grounds) expect(contrast(accent, ground)).toBeGreaterThanOrEqual(4.5);
      }
    }),
  );
});

test('a color that can be read stays as it is', () => {
  expect(variable(accentStylesheet('#2446cf'), 'accent')[light]).toBe('#2446cf');
  expect(variable(accentStylesheet('#ffd400'), 'accent')[dark]).toBe('#ffd400');
});
