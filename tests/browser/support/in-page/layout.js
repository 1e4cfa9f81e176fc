/** Runs in a page. @returns problems of the layout, one sentence each. */
(() => {
  const MIN_TARGET_PX = 24;
  const problems = [];
  const describe = (element) =>
    `${element.localName}.${element.className} "${element.textContent.trim().slice(0, 30)}"`;
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
  const scroller = (element) => {
    for (let parent = element.parentElement; parent !== null; parent = parent.parentElement)
      if (parent !== document.documentElement && getComputedStyle(parent).overflowX !== 'visible') return parent;
    return null;
  };

  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) problems.push(`${scrollWidth} px wide on a screen of ${innerWidth}`);
  for (const element of document.body.querySelectorAll('*')) {
    if (!isShown(element)) continue;
    const { left, right, width, height } = element.getBoundingClientRect();
    const isCut = element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== 'visible';
    // A one-line field scrolls the typed text, and an element that the keyboard reaches is meant to scroll.
    const mayScroll = element.localName === 'input' || element.getAttribute('tabindex') === '0';
    if (isCut && element.className !== 'announcement' && !mayScroll)
      problems.push(`${describe(element)} scrolls sideways`);
    if (scroller(element) === null && (left < -0.5 || right > innerWidth + 0.5))
      problems.push(`${describe(element)} reaches from ${left} to ${right}`);
    // Links within a sentence have the height of its line.
    const isTarget = element.matches('button, summary, a') && element.closest('p') === null;
    if (isTarget && (width < MIN_TARGET_PX || height < MIN_TARGET_PX))
      problems.push(`${describe(element)} is a target of ${width} by ${height} px`);
  }
  return problems;
})();
