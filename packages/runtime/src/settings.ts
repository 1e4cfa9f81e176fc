import { readFileSync } from 'node:fs';

/**
 * Reads a process's settings in one pass and reports all problems together, so that an operator can fix them all at
 * once.
 * An empty setting counts as absent, because compose files and shells produce empty values for unset ones.
 * @throws ConfigurationError listing all problems. No message repeats a secret or a URL, which may contain a password.
 */
export function settings<T>(env: NodeJS.ProcessEnv, read: (read: SettingsReader) => T): T {
  const problems: string[] = [];
  let config: T;
  try {
    config = read(createReader(env, (name, reason) => void problems.push(`${name}: ${reason}`)));
  } catch (error) {
    // After a problem the reader returns placeholders, which may make the callback's own code fail.
    if (problems.length === 0) throw error;
    throw new ConfigurationError(problems);
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  return config;
}

/** The process cannot start with these settings. `problems` are lines of the form `NAME: what is wrong`. */
export class ConfigurationError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

export type SettingsReader = ReturnType<typeof createReader>;

type Range = { min: number; max: number };
type Report = (name: string, reason: string) => void;

function createReader(env: NodeJS.ProcessEnv, report: Report) {
  const textOf = (name: string) => env[name]?.trim() || null;

  /** Parses a setting. An absent setting has its default; a wrong one is reported and replaced by `placeholder`. */
  function read<T>(name: string, fallback: T | undefined, placeholder: T, parse: (text: string) => T): T {
    const text = textOf(name);
    if (text === null) {
      if (fallback !== undefined) return fallback;
      report(name, 'is required');
      return placeholder;
    }
    try {
      return parse(text);
    } catch (error) {
      report(name, error instanceof Error ? error.message : String(error));
      return placeholder;
    }
  }

  return {
    integer: (name: string, rule: Range & { default?: number }): number =>
      read(name, rule.default, rule.min, (text) => parseInteger(text, rule)),
    /** Comma-separated integers, at least one and at most a hundred. */
    integers: (name: string, rule: Range & { default?: number[] }): number[] =>
      read(name, rule.default, [rule.min], (text) => {
        const items = text.split(',');
        if (items.length > 100) throw new Error('must hold at most 100 integers');
        return items.map((item) => parseInteger(item.trim(), rule));
      }),
    boolean: (name: string, rule: { default?: boolean } = {}): boolean => read(name, rule.default, false, parseBoolean),
    oneOf: <const V extends string>(name: string, values: readonly V[], rule: { default?: V } = {}): V =>
      read(name, rule.default, values[0] as V, (text) => {
        const found = values.find((value) => value === text);
        if (found === undefined) throw new Error(`must be one of ${values.join(', ')}`);
        return found;
      }),
    text: (name: string, rule: { default?: string; pattern?: RegExp } = {}): string =>
      read(name, rule.default, '', (text) => {
        if (rule.pattern && !rule.pattern.test(text)) throw new Error(`must match ${rule.pattern.source}`);
        return text;
      }),
    optionalText: textOf,
    /** For a setting with its own format: `parse` throws an error that says what is wrong. */
    parsed: <T>(name: string, rule: { default: T }, parse: (text: string) => T): T =>
      read(name, rule.default, rule.default, parse),
    /** Like `parsed`, without a default. The error that `parse` throws must not repeat a secret. */
    required: <T>(name: string, parse: (text: string) => T): T => read<T>(name, undefined, undefined as T, parse),
    /** Has no default: the process must not start without the secret. */
    secret: (name: string, rule: { minLength?: number } = {}): string =>
      read(name, undefined, '', longEnough(rule.minLength)),
    /** For a secret that is set only while it is being replaced. Null when absent. */
    optionalSecret: (name: string, rule: { minLength?: number } = {}): string | null =>
      read<string | null>(name, null, null, longEnough(rule.minLength)),
    /** `protocols` as in `new URL().protocol`, with the colon. http(s) URLs are returned without trailing slashes. */
    url: (name: string, rule: { protocols?: readonly string[]; default?: string } = {}): string =>
      read(name, rule.default, '', (text) => parseUrl(text, rule.protocols)),
    /**
     * The setting is the path of a JSON file. `parse` checks the content and throws an error that says what is wrong.
     */
    jsonFile: <T>(name: string, parse: (json: unknown) => T, rule?: { default: T }): T =>
      read<T>(name, rule?.default, rule?.default as T, (path) => parse(readJsonFile(path))),
  };
}

const longEnough =
  (minLength = 1) =>
  (text: string): string => {
    if (text.length < minLength) throw new Error(`must have at least ${minLength} characters`);
    return text;
  };

function parseInteger(text: string, { min, max }: Range): number {
  const value = Number(text);
  if (!/^-?\d{1,15}$/.test(text) || value < min || value > max) {
    throw new Error(`must be an integer from ${min} to ${max}`);
  }
  return value;
}

function parseBoolean(text: string): boolean {
  if (['true', 'on', '1'].includes(text)) return true;
  if (['false', 'off', '0'].includes(text)) return false;
  throw new Error('must be true or false');
}

function parseUrl(text: string, protocols: readonly string[] | undefined): string {
  const url = URL.parse(text);
  if (url === null) throw new Error('must be an absolute URL');
  if (protocols && !protocols.includes(url.protocol)) throw new Error(`must be a URL with ${protocols.join(' or ')}`);
  // Paths are appended to base URLs. In an AMQP URL a trailing slash is part of the virtual host's name, so it stays.
  return url.protocol.startsWith('http') ? text.replace(/\/+$/, '') : text;
}

function readJsonFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${path} is not JSON`);
  }
}
