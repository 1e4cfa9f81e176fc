/** The parts of an AMQP URL: up to the hosts, the hosts, and what follows them. */
const AMQP_URL = /^(amqps?:\/\/(?:[^/?#]*@)?)([^@/?#]+)((?:[/?#].*)?)$/;

/**
 * The URLs that AMQP_URL stands for, one for each host. Several hosts are written in one URL, `amqp://user:password@host1:5672,host2:5672/vhost`,
 * or as several URLs with commas between them that differ only in host and port: nodes of a cluster have the same users and virtual hosts.
 * @throws Error with a sentence that follows the name of the setting. It does not repeat the URL, which holds a password.
 */
export function parseAmqpUrls(text: string): [string, ...string[]] {
  // Passwords may contain commas.
  const [first, ...others] = text.split(/,\s*(?=amqps?:\/\/)/).map(readUrl);
  if (first === undefined || others.some(({ common }) => common !== first.common))
    throw new Error('may list several URLs only if they differ in nothing but host and port');
  return [first, ...others].flatMap(({ urls }) => urls) as [string, ...string[]];
}

/** For settings, which keep the text. @throws as parseAmqpUrls(). */
export function checkAmqpUrl(text: string): string {
  parseAmqpUrls(text);
  return text;
}

/** @returns the URL for each of its hosts, and what they have in common. */
function readUrl(text: string): { urls: string[]; common: string } {
  const [, before = '', hosts = '', after = ''] = AMQP_URL.exec(text.trim()) ?? [];
  // The rest of a list without schemes, such as `amqp://host1/vhost,host2/vhost`, would be part of the virtual host's name.
  if (after.includes(','))
    throw new Error('has a comma after the hosts: in the name of a virtual host it must be written as %2C');
  const urls = hosts.split(',').map((host) => `${before}${host.trim()}${after}`);
  if (!urls.every((url) => URL.parse(url)?.hostname))
    throw new Error(
      'must be a URL with amqp: or amqps:, a host or several with commas between them, and a virtual host',
    );
  return { urls, common: `${before}${after}` };
}
