import { fileURLToPath, URL } from 'node:url';
import shared from '../../jest.config.js';

const unit = shared.projects.find(({ displayName }) => displayName === 'unit');

/** The unit tests of the rules that are mutated, which MUTATED_TESTS names as JSON, and no others. */
export default {
  ...unit,
  rootDir: fileURLToPath(new URL('../..', import.meta.url)),
  testMatch: JSON.parse(process.env.MUTATED_TESTS ?? '[]').map((path) => `<rootDir>/${path}`),
};
