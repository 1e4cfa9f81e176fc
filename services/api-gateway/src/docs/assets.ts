import { createRequire } from 'node:module';
import { loadAsset } from '@quittance/checkout-page/asset.ts';

const require = createRequire(import.meta.url);

/** What the page loads. Swagger UI comes from its package, so that the page loads nothing from another server. */
export function readDocsAssets() {
  return {
    library: loadAsset(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
    start: loadAsset(new URL('assets/docs.js', import.meta.url)),
    libraryStyle: loadAsset(require.resolve('swagger-ui-dist/swagger-ui.css')),
    style: loadAsset(new URL('assets/docs.css', import.meta.url)),
  };
}

export type DocsAssets = ReturnType<typeof readDocsAssets>;
