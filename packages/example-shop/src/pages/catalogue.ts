import { catalogue, type Article } from '../catalogue.ts';
import { html, type Html } from '../html.ts';
import { page } from './layout.ts';

/** @param currency of the prices. */
export const cataloguePage = (currency: string): string =>
  page(
    'Tea and what it takes',
    html`<h1>Tea and what it takes</h1>
      <p class="lead">Paid in USDT, straight to the shop.</p>
      <ul class="articles">
        ${catalogue.map((article) => articleCard(article, currency))}
      </ul>`,
  );

const articleCard = ({ id, name, about, price }: Article, currency: string): Html =>
  html`<li>
    <img src="/assets/${id}.svg" alt="" width="160" height="120" />
    <h2>${name}</h2>
    <p>${about}</p>
    <p class="price">${price} ${currency}</p>
    <form method="post" action="/orders">
      <button name="article" value="${id}" aria-label="Buy ${name}">Buy</button>
    </form>
  </li>`;
