export type Article = {
  id: string;
  name: string;
  about: string;
  /** Decimal text in the shop's currency, with at most two decimals. */
  price: string;
};

export const catalogue: readonly Article[] = [
  { id: 'teapot', name: 'Teapot', about: 'Stoneware, for four cups', price: '49.90' },
  { id: 'cup', name: 'Tea bowl', about: 'Glazed by hand, no two alike', price: '12.50' },
  { id: 'sencha', name: 'Sencha', about: 'Green tea of this spring, 100 g', price: '9.90' },
];

export const articleOf = (id: string): Article | undefined => catalogue.find((article) => article.id === id);
