/** A block of code: "```js shop.mjs" begins one in `js`, titled "shop.mjs". */
export type CodeBlock = { language: string; title: string; code: string };

export const blocksIn = (text: string): CodeBlock[] =>
  [...text.matchAll(/^```(\w*) ?(.*)\n([\s\S]*?)^```$/gm)].map(([, language = '', title = '', code = '']) => ({
    language,
    title,
    code,
  }));
