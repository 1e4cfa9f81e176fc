import { catalogue, type Article } from '../catalogue.ts';
import { html, type Html } from '../html.ts';
import { page } from './layout.ts';

export const cataloguePage = (): string =>
  page(
    'Tea and what it takes',
    html`<h1>Tea and what it takes</h1>
      <p class="lead">Paid in USDT, straight to the shop.</p>
      <ul class="articles">
        ${catalogue.map(articleCard)}
      </ul>`,
  );

const articleCard = ({ id, name, about, price }: Article): Html =>
  html`<li>
    <img src="/assets/${id}.svg" alt="" width="160" height="120" />
    <h2>${name}</h2>
    <p>${about}</p>
    <p class="price">${price} USDT</p>
    <form method="post" action="/orders">
      <button name="article" value="${id}" aria-label="Buy ${name}">Buy</button>
    </form>
  </li>`;
