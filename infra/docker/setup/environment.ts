/**
 * A value that compose must set.
 * @throws Error naming it when it is missing or empty.
 */
export function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new Error(`${name} is required`);
  return value;
}
