/** Endpoints rarely change. Where they do so all the time, the oldest are forgotten. */
const MAX_SPANS = 1_000;

/**
 * Which endpoint each block was read from last, so that the audit asks another one.
 * @param start the last block that was scanned before this term.
 */
export function createBlockSources(start: number) {
  let spans = [{ through: start, endpoint: 0 }];
  const sourceOf = (number: number) =>
    spans.find(({ through }) => through >= number) ?? { endpoint: 0, through: number };

  return {
    /** The blocks after those noted before, up to this height, came from this endpoint. */
    note(through: number, endpoint: number): void {
      const last = spans.at(-1);
      if (last !== undefined && through <= last.through) return;
      if (last?.endpoint === endpoint) last.through = through;
      else spans.push({ through, endpoint });
      if (spans.length > MAX_SPANS) spans.shift();
    },
    /** These blocks, both ends included, were read again from this endpoint. */
    replace({ from, through }: { from: number; through: number }, endpoint: number): void {
      const below = { through: from - 1, endpoint: sourceOf(from - 1).endpoint };
      const all = [
        ...spans.filter((span) => span.through < below.through),
        below,
        { through, endpoint },
        ...spans.filter((span) => span.through > through),
      ];
      // Two of one endpoint are one.
      spans = all.filter((span, position) => all[position + 1]?.endpoint !== span.endpoint).slice(-MAX_SPANS);
    },
    /**
     * The endpoint this block was read from, and up to which block that is so. Of blocks from before this term nothing is known:
     * they count as read from endpoint 0, the best one, which is asked first.
     */
    of: sourceOf,
    /** Blocks up to this height are not asked about any more. */
    forget(number: number): void {
      spans = spans.filter(({ through }, position) => through > number || position === spans.length - 1);
    },
    /** The blocks above this height are gone. */
    rewind(number: number): void {
      const kept = spans.filter(({ through }) => through <= number);
      const cut = spans[kept.length];
      spans = cut === undefined ? kept : [...kept, { ...cut, through: number }];
    },
  };
}
