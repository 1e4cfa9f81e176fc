/** A pushed image: its name in a registry without a tag, and the digest that pins it. */
export type PushedImage = { name: string; digest: string };

/** The images of the services and of `setup`, by name. */
export type PushedImages = Readonly<Record<string, PushedImage>>;

/** @throws when the text is not in the workflow's format: one `SERVICE NAME@sha256:…` a line. */
export function parseImages(text: string): PushedImages {
  const lines = text.split('\n').filter((line) => line !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [, service, name, digest] = /^([a-z-]+) (\S+)@(sha256:[0-9a-f]{64})$/.exec(line) ?? [];
      if (service === undefined || name === undefined || digest === undefined)
        throw new Error(`"${line}" names no image`);
      return [service, { name, digest }];
    }),
  );
}

/** A compose file that runs the pushed images, whatever QUITTANCE_VERSION says, and builds none. */
export function pinnedCompose(compose: string, images: PushedImages): string {
  return compose
    .replace(/^( *image: )quittance\/([a-z-]+):\S+$/gm, (_, head: string, service: string) => {
      const { name, digest } = pushedImage(images, service);
      return `${head}${name}@${digest}`;
    })
    .replace(/^ *build: \{.*\}\n/gm, '');
}

/** k8s/overlays/production/release/kustomization.yaml with the registry and digests of the pushed images. */
export function pinnedRelease(kustomization: string, images: PushedImages): string {
  return kustomization.replace(
    /^ {2}- \{ name: quittance\/([a-z-]+), newName: \S+, newTag: ([^}]+) \}$/gm,
    (_, service: string, tag: string) => {
      const { name, digest } = pushedImage(images, service);
      return `  - { name: quittance/${service}, newName: ${name}, newTag: ${tag}, digest: '${digest}' }`;
    },
  );
}

/**
 * The chart's values.yaml with the registry and digests of the pushed images.
 * @param services whose images the chart uses. @throws Error unless all are in one registry under their own names.
 */
export function pinnedValues(values: string, images: PushedImages, services: readonly string[]): string {
  const pushed = services.map((service) => ({ service, ...pushedImage(images, service) }));
  const registries = new Set(pushed.map(({ service, name }) => name.replace(new RegExp(`/${service}$`), '')));
  const [registry = ''] = registries;
  if (registries.size !== 1) throw new Error(`the images are in different registries: ${[...registries].join(', ')}`);
  const digests = pushed.map(({ service, digest }) => `    ${service}: '${digest}'`).join('\n');
  return values
    .replace(/^ {2}registry: \S+$/m, `  registry: ${registry}`)
    .replace(/^ {2}digests: \{\}$/m, `  digests:\n${digests}`);
}

function pushedImage(images: PushedImages, service: string): PushedImage {
  const image = images[service];
  if (image === undefined) throw new Error(`no image of ${service} was pushed`);
  return image;
}
