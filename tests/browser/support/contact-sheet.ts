/** A page with all pictures next to each other, each with its name. @param names of the files, without `.png`. */
export function contactSheet(title: string, names: readonly string[]): string {
  const figures = names.map(
    (name) =>
      `<figure><a href="${name}.png"><img src="${name}.png" alt="" loading="lazy"></a><figcaption>${name}</figcaption></figure>`,
  );
  return `<!doctype html>
<meta charset="utf-8">
<title>${title}</title>
<style>
  body { background: #777; display: flex; flex-wrap: wrap; font: 14px sans-serif; gap: 16px; align-items: start }
  figure { margin: 0 }
  img { display: block; max-width: 360px }
  figcaption { color: #fff; padding: 4px }
</style>
${figures.join('\n')}
`;
}
