import { buildIntegration } from '../build.ts';

/** Compiles it into a folder as it is published. */
export const build = (folder: string): Promise<void> => buildIntegration('vendure', folder);
