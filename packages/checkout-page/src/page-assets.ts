import { loadAsset } from './asset.ts';

/** The page's files, read once at start. */
export const assets = {
  script: loadAsset(new URL('assets/checkout.js', import.meta.url)),
  stylesheet: loadAsset(new URL('assets/checkout.css', import.meta.url)),
};
