/**
 * Shows /openapi.json with Swagger UI, for reading only: nothing can be sent from here, and nowhere is a credential asked for.
 * An API key has no place in a browser.
 */
(() => {
  const nothing = () => () => null;

  SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#docs',
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [{ wrapComponents: { authorizeBtn: nothing, authorizeOperationBtn: nothing, ServersContainer: nothing } }],
    layout: 'BaseLayout',
    supportedSubmitMethods: [],
    validatorUrl: null,
    queryConfigEnabled: false,
    deepLinking: true,
    docExpansion: 'list',
    defaultModelRendering: 'example',
    defaultModelExpandDepth: 3,
    defaultModelsExpandDepth: 0,
  });
})();
