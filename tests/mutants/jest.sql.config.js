import { fileURLToPath, URL } from 'node:url';
import shared from '../../jest.config.js';

const int = shared.projects.find(({ displayName }) => displayName === 'int');

/** Tests on real backends alone, long ones included: the other projects would be looked through each time. */
export default {
  ...int,
  rootDir: fileURLToPath(new URL('../..', import.meta.url)),
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: shared.testTimeout,
};
