/** Runs in a page. @returns texts that cover each other or a control, that are cut off, or whose words are broken, one sentence each. */
(() => {
  /** Of a line's height. Fonts reserve more than their letters need, so only the middle of a line counts. */
  const MIDDLE = { from: 0.3, to: 0.7 };
  const SLACK_PX = 1;
  /** Addresses and ids have no words, merchants' texts may be anything, and these languages may break between any two characters. */
  const ANY_BREAK = '.recipient, .description, .shop-name, .reference, :lang(zh), :lang(ja), :lang(th)';
  const problems = [];
  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && element.closest('.announcement, noscript') === null;
  const say = (text) => `"${text.trim().slice(0, 40)}"`;

  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    if (node.data.trim() !== '' && isShown(node.parentElement)) texts.push(node);

  const rectsOf = (node, start = 0, end = node.data.length) => {
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, end);
    return [...range.getClientRects()].filter(({ width }) => width > 0);
  };
  const middleOf = ({ left, right, top, height }) => ({
    ...{ left, right, top: top + height * MIDDLE.from, bottom: top + height * MIDDLE.to },
  });
  const meet = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > SLACK_PX &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > SLACK_PX;

  const lines = texts.flatMap((node) => rectsOf(node).map((rect) => ({ node, ...middleOf(rect) })));
  const controls = [...document.body.querySelectorAll('button, input, svg, progress, img, .initial')].filter(isShown);
  lines.forEach((line, position) => {
    const { node } = line;
    for (const other of lines.slice(position + 1))
      if (other.node !== node && meet(line, other)) problems.push(`${say(node.data)} covers ${say(other.node.data)}`);
    for (const control of controls)
      if (!control.contains(node) && meet(line, control.getBoundingClientRect()))
        problems.push(
          `${say(node.data)} covers ${control.localName}.${control.className.baseVal ?? control.className}`,
        );
    for (let parent = node.parentElement; parent !== document.body; parent = parent.parentElement) {
      if (getComputedStyle(parent).overflow === 'visible') continue;
      const box = parent.getBoundingClientRect();
      const isInside =
        line.left > box.left - SLACK_PX &&
        line.right < box.right + SLACK_PX &&
        line.top > box.top &&
        line.bottom < box.bottom;
      if (!isInside) problems.push(`${say(node.data)} is cut off by ${parent.localName}.${parent.className}`);
    }
  });

  for (const node of texts) {
    if (node.parentElement.closest(ANY_BREAK) !== null) continue;
    for (const { 0: word, index } of node.data.matchAll(/[^\s\u200b/-]+/g)) {
      const tops = new Set(rectsOf(node, index, index + word.length).map(({ top }) => Math.round(top)));
      if (tops.size > 1) problems.push(`"${word}" is broken`);
    }
  }
  return [...new Set(problems)];
})();
