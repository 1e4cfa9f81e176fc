/** Runs in a page. @returns the text and the horizontal position of each element with constant text, without the description. */
(() => {
  const places = [];
  for (const element of document.body.querySelectorAll('main *')) {
    const words = [...element.childNodes].filter(({ nodeType, data }) => nodeType === 3 && data.trim() !== '');
    if (words.length === 0 || element.closest('.description, .clock') !== null || !element.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(element);
    const { left, right } = range.getBoundingClientRect();
    places.push({ text: element.textContent.trim(), left: Math.round(left), right: Math.round(right) });
  }
  return places;
})();
