/*
 * The merchant's color on the page. It is made darker or lighter until text in it can be read, as WCAG asks for text of normal size
 * (https://www.w3.org/TR/WCAG22/#contrast-minimum), so that no choice makes the page unreadable.
 */

/** Red, green and blue, from 0 to 255. */
type Color = readonly [number, number, number];

const CONTRAST_MIN = 4.5;

const white: Color = [255, 255, 255];
const black: Color = [0, 0, 0];
/** What the colored text stands on in the dark; assets/checkout.css has the same card. */
const darkCard: Color = [21, 26, 35];

/** Where the page's stylesheet finds the variables that it replaces. @param color `#rrggbb`. */
export const accentPath = (color: string): string => `accents/${color.slice(1)}.css`;

/** @param color `#rrggbb`. */
export function accentStylesheet(color: string): string {
  const chosen = parse(color);
  const light = variables(chosen, { ground: white, toward: black, soft: 0.08, text: white });
  const dark = variables(chosen, { ground: darkCard, toward: white, soft: 0.16, text: black });
  return `:root{${light}}@media (prefers-color-scheme:dark){:root{${dark}}}`;
}

function variables(
  chosen: Color,
  { ground, toward, soft: share, text }: { ground: Color; toward: Color; soft: number; text: Color },
): string {
  const soft = mix(ground, chosen, share);
  const accent = readableOn([ground, soft], chosen, toward);
  const glow = mix(ground, chosen, share * 1.5);
  return `--accent:${format(accent)};--accent-soft:${format(soft)};--on-accent:${format(text)};--glow:${format(glow)}`;
}

/** In steps of a fiftieth; the last one is black or white, which can be read on every ground here. */
function readableOn(grounds: readonly Color[], color: Color, toward: Color): Color {
  const steps = Array.from({ length: 51 }, (_, step) => mix(color, toward, step / 50));
  const isReadable = (step: Color) => grounds.every((ground) => contrast(step, ground) >= CONTRAST_MIN);
  return steps.find(isReadable) ?? toward;
}

const parse = (color: string): Color => {
  const value = Number.parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
};

const format = (color: Color): string => `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

const mix = (from: Color, to: Color, share: number): Color => {
  const part = (index: 0 | 1 | 2) => Math.round(from[index] + (to[index] - from[index]) * share);
  return [part(0), part(1), part(2)];
};

function contrast(one: Color, other: Color): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: Color): number {
  const linear = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const [red = 0, green = 0, blue = 0] = linear;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
