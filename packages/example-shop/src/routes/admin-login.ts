import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';

/** HTTP Basic authentication: any name, and the password. Over TLS only, except on your own machine. */
export const adminLogin =
  (password: string): RequestHandler =>
  (request, response, next) => {
    const [scheme = '', credentials = ''] = (request.headers.authorization ?? '').split(' ');
    const given = Buffer.from(credentials, 'base64').toString();
    const givenPassword = given.slice(given.indexOf(':') + 1);
    if (scheme.toLowerCase() === 'basic' && isSame(givenPassword, password)) next();
    else
      response
        .status(401)
        .set('WWW-Authenticate', 'Basic realm="Shop", charset="UTF-8"')
        .type('text')
        .send('Log in.\n');
  };

/** In constant time, which reveals nothing about where they differ. */
const isSame = (given: string, expected: string): boolean => timingSafeEqual(hash(given), hash(expected));

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
