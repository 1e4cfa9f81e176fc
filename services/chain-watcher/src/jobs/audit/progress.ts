/** Endpoints rarely change. Where they do so all the time, the oldest are forgotten. */
const MAX_SPANS = 1_000;

/**
 * How far the audit is, and which endpoint each block after that was read from last, so that it asks another one.
 * @param stored the last block that was audited before this term.
 * @param scanned the last block that was scanned before this term.
 */
export function createProgress(stored: number, scanned: number) {
  let audited = stored;
  let spans = [{ through: scanned, endpoint: 0 }];
  const sourceOf = (number: number) =>
    spans.find(({ through }) => through >= number) ?? { endpoint: 0, through: number };

  function lower(number: number): void {
    audited = Math.min(audited, number);
  }

  return {
    /** The last block that was read a second time. */
    audited: () => audited,
    /** The blocks up to this height have been read a second time. */
    moveTo(number: number): void {
      audited = number;
      spans = spans.filter(({ through }, position) => through > number || position === spans.length - 1);
    },
    /** The blocks after those noted before, up to this height, were read from this endpoint. */
    onRead(through: number, endpoint: number): void {
      const last = spans.at(-1);
      if (last !== undefined && through <= last.through) return;
      if (last?.endpoint === endpoint) last.through = through;
      else spans.push({ through, endpoint });
      if (spans.length > MAX_SPANS) spans.shift();
    },
    /** These blocks, both ends included, were read again for other wallets: they are audited again. */
    onReadAgain({ from, through }: { from: number; through: number }, endpoint: number): void {
      const below = { through: from - 1, endpoint: sourceOf(from - 1).endpoint };
      const all = [
        ...spans.filter((span) => span.through < below.through),
        below,
        { through, endpoint },
        ...spans.filter((span) => span.through > through),
      ];
      // Two of one endpoint are one.
      spans = all.filter((span, position) => all[position + 1]?.endpoint !== span.endpoint).slice(-MAX_SPANS);
      lower(from - 1);
    },
    /**
     * The endpoint this block was read from, and up to which block that is so. Of blocks from before this term nothing is known:
     * they count as read from endpoint 0, the best one, which is asked first.
     */
    sourceOf,
    /** The blocks above this height are gone. */
    onRewind(number: number): void {
      lower(number);
      const kept = spans.filter(({ through }) => through <= number);
      const cut = spans[kept.length];
      spans = cut === undefined ? kept : [...kept, { ...cut, through: number }];
    },
  };
}
