import { loopbackNames } from './web-pages.ts';

export type ReceiverConfig = {
  host: string;
  tlsPort: number;
  controlPort: number;
  /** Host names under which the control port is called. */
  controlNames: readonly string[];
  certificateFile: string;
  keyFile: string;
};

/**
 * RECEIVER_HOST (listen address), RECEIVER_TLS_PORT and RECEIVER_CONTROL_PORT (0 for any free port), RECEIVER_CA_CERT and RECEIVER_CA_KEY
 * (PEM files). RECEIVER_URL: the control port's URL for other machines, if they call it; its host name is then accepted too.
 * @throws Error naming every setting that is missing or wrong.
 */
export function readConfig(env: NodeJS.ProcessEnv): ReceiverConfig {
  const problems: string[] = [];
  const text = (name: string) => env[name] || (problems.push(`${name} is required`), '');
  const port = (name: string) => {
    const number = Number(text(name));
    if (!Number.isInteger(number) || number < 0 || number > 65_535) problems.push(`${name} is not a port`);
    return number;
  };
  const hostsOf = (name: string) => {
    const url = URL.parse(env[name] || 'http://localhost');
    if (url === null) problems.push(`${name} is not a URL`);
    return url === null ? [] : [url.hostname];
  };
  const config = {
    host: text('RECEIVER_HOST'),
    tlsPort: port('RECEIVER_TLS_PORT'),
    controlPort: port('RECEIVER_CONTROL_PORT'),
    controlNames: [...new Set([...loopbackNames, ...hostsOf('RECEIVER_URL')])],
    certificateFile: text('RECEIVER_CA_CERT'),
    keyFile: text('RECEIVER_CA_KEY'),
  };
  if (problems.length > 0) throw new Error(problems.join('; '));
  return config;
}
