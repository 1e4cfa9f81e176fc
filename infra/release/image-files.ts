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

/**
 * A compose file to list in COMPOSE_FILE right after the given containers' file. Each of our containers then runs the pushed image,
 * whatever QUITTANCE_VERSION says.
 */
export function composeOverride(images: PushedImages, containers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(containers).flatMap(([container, image]) => {
    const pushed = pushedImage(images, image);
    return [`  ${container}:`, `    image: ${pushed.name}@${pushed.digest}`, '    build: !reset null'];
  });
  return `services:\n${lines.join('\n')}\n`;
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

function pushedImage(images: PushedImages, service: string): PushedImage {
  const image = images[service];
  if (image === undefined) throw new Error(`no image of ${service} was pushed`);
  return image;
}
